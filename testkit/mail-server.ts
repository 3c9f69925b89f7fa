// A real SMTP server on this machine that misbehaves as it is told, and has everything that it was sent.
import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerOptions, type SMTPServerSession } from 'smtp-server';

export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  readonly raw: string;
  readonly messageId: string;
  readonly isTls: boolean;
  readonly atMs: number;
}

/** What the server does: accepts, replies with this, closes the connection without a reply, or never replies. */
export type MailReply = 'accept' | 'reset' | 'hang' | { readonly code: number; readonly text: string };

export interface MailServerBehaviour {
  /** To RCPT TO. */
  recipient?(address: string): MailReply | Promise<MailReply>;
  /** To the text. */
  text?(mail: ReceivedMail): MailReply | Promise<MailReply>;
  /** To MAIL FROM. */
  sender?(): MailReply;
}

export interface MailServer extends AsyncDisposable {
  readonly port: number;
  readonly url: string;
  /** With replies that accept it. */
  readonly accepted: ReceivedMail[];
  /** Whatever the reply was. */
  readonly received: ReceivedMail[];
  readonly state: { connections: number; logins: number };
  /** May be replaced at any time. */
  behaviour: MailServerBehaviour;
  /** As a server does with idle ones. */
  closeConnections(): void;
}

export async function startMailServer(behaviour: MailServerBehaviour = {}, options: SMTPServerOptions = {}): Promise<MailServer> {
  const accepted: ReceivedMail[] = [];
  const received: ReceivedMail[] = [];
  const state = { connections: 0, logins: 0 };
  const errorOf = ({ code, text }: { code: number; text: string }) => Object.assign(new Error(text), { responseCode: code });
  /** `done` is never called for one that hangs. */
  const apply = (reply: MailReply, close: () => void, done: (error?: Error | null) => void) => {
    if (reply === 'accept') done();
    else if (reply === 'reset') close();
    else if (reply !== 'hang') done(errorOf(reply));
  };
  const closerOf =
    ({ id }: { readonly id: string }) =>
    () => {
      for (const connection of server.connections) if (connection.id === id) connection._socket.destroy();
    };
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: options.onAuth ? [] : ['AUTH'],
    disableReverseLookup: true,
    // Else it warns of its own certificate.
    logger: false,
    closeTimeout: 100,
    onConnect: (_, done) => {
      state.connections += 1;
      done();
    },
    onMailFrom: (_, session, done) => apply(instance.behaviour.sender?.() ?? 'accept', closerOf(session), done),
    onRcptTo: ({ address }, session, done) => {
      void Promise.resolve(instance.behaviour.recipient?.(address) ?? 'accept').then((reply) => apply(reply, closerOf(session), done));
    },
    onData: (stream, session, done) => void receive(stream, session, done),
    ...options,
  });
  async function receive(
    stream: AsyncIterable<unknown>,
    { envelope, secure, ...session }: SMTPServerSession,
    done: (error?: Error | null) => void,
  ) {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of stream) chunks.push(chunk as Buffer);
    } catch {
      return;
    }
    const raw = Buffer.concat(chunks).toString('latin1');
    const mail = {
      from: envelope.mailFrom ? envelope.mailFrom.address : '',
      to: envelope.rcptTo.map(({ address }) => address),
      raw,
      messageId: /^Message-ID: (.*)\r$/im.exec(raw)?.[1] ?? '',
      isTls: secure,
      atMs: performance.now(),
    };
    received.push(mail);
    const reply = (await instance.behaviour.text?.(mail)) ?? 'accept';
    if (reply === 'accept') accepted.push(mail);
    apply(reply, closerOf(session), done);
  }
  // A client that gives up is no error of the server.
  server.on('error', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  const { port } = server.server.address() as AddressInfo;
  const instance: MailServer = {
    port,
    url: `smtp://127.0.0.1:${port}`,
    accepted,
    received,
    state,
    behaviour,
    closeConnections: () => {
      for (const connection of server.connections) connection._socket.destroy();
    },
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  };
  return instance;
}
