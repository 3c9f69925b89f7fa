import { Readable } from 'node:stream';
import SmtpConnection from 'nodemailer/lib/smtp-connection';
import type { SmtpServer } from '../../platform/server-urls.ts';

export interface SmtpTimeouts {
  /** For the connection, TLS and the login together. */
  readonly openMs: number;
  /** For a reply to RSET, which shows that the connection still works. */
  readonly checkMs: number;
  /** From the envelope to the server's consent to the text. */
  readonly envelopeMs: number;
  /** From the text to the server's reply. Long, as RFC 5321 asks for: a sender that gives up earlier sends the message twice. */
  readonly replyMs: number;
}

export interface Envelope {
  readonly from: string;
  /** Exactly one. */
  readonly to: string;
}

/**
 * A connection to the SMTP server that is open and logged in. It sends one message at a time. Whatever fails or takes too long destroys
 * the socket: nothing that was not sent by then is sent later.
 */
export class SmtpSession {
  readonly #connection: SmtpConnection;
  readonly #timeouts: SmtpTimeouts;
  #lost: ((error: unknown) => void) | undefined;
  #isOpen = true;
  #takesMail = false;

  private constructor(connection: SmtpConnection, timeouts: SmtpTimeouts) {
    this.#connection = connection;
    this.#timeouts = timeouts;
    connection.on('error', (error) => this.#lost?.(error));
    connection.on('end', () => {
      this.#isOpen = false;
      const lost = this.#lost;
      // What comes right after this event may say more: a reply to the command.
      process.nextTick(() => lost?.(new SmtpFault('the SMTP server closed the connection', { of: 'server' })));
    });
  }

  static async open(server: SmtpServer, timeouts: SmtpTimeouts): Promise<SmtpSession> {
    const { host, port, isTls, isLoopback, login } = server;
    const connection = new SmtpConnection({
      host,
      port,
      secure: isTls,
      // On this machine nobody can read the connection: neither STARTTLS nor a certificate is needed.
      requireTLS: !isTls && !isLoopback,
      opportunisticTLS: !isTls && isLoopback,
      tls: isLoopback ? { rejectUnauthorized: false } : {},
      connectionTimeout: timeouts.openMs,
      greetingTimeout: timeouts.openMs,
      dnsTimeout: timeouts.openMs,
      socketTimeout: timeouts.replyMs,
      // The longest reply that is read.
      maxResponseSize: 65_536,
    });
    const session = new SmtpSession(connection, timeouts);
    await session.#run('connecting', timeouts.openMs, (done) => {
      connection.connect((error) => {
        if (error || !login) return done(error);
        connection.login({ user: login.user, pass: login.password }, done);
      });
    });
    return session;
  }

  /** Whether the server still replies, before the next message. */
  async isReady(): Promise<boolean> {
    if (!this.#isOpen) return false;
    await this.#run('RSET', this.#timeouts.checkMs, (done) => this.#connection.reset(done)).catch(() => {});
    return this.#isOpen;
  }

  /** `begin` returns the text once the server asks for it. Rejects with an SmtpFault, or with what `begin` has rejected with. */
  async send({ from, to }: Envelope, begin: () => Promise<Buffer>): Promise<void> {
    const { envelopeMs, replyMs } = this.#timeouts;
    let own: unknown;
    try {
      await this.#run('the envelope', envelopeMs, (done, extend) => {
        const taken = () => {
          this.#takesMail = true;
        };
        const beginNow = async function* () {
          taken();
          extend('the text', replyMs);
          yield await begin().catch((error) => {
            own = error;
            throw error;
          });
        };
        this.#connection.send({ from, to: [to] }, Readable.from(beginNow(), { objectMode: false }), done);
      });
    } catch (error) {
      throw own ?? error;
    }
  }

  /** Whether it takes a message from this address to itself, of which no text is sent. Rejects with an SmtpFault. Ends the connection. */
  async tryAddress(address: string): Promise<void> {
    const stop = new Error('asked for the text');
    const stopNow = () => Promise.reject(stop);
    await this.send({ from: address, to: address }, stopNow).catch((error) => {
      if (error !== stop) throw error;
    });
  }

  /** Says good-bye without waiting for a reply. */
  quit(): void {
    if (this.#isOpen) this.#connection.quit();
    setTimeout(() => this.destroy(), this.#timeouts.checkMs).unref();
  }

  destroy(): void {
    const { _socket: socket } = this.#connection;
    this.#connection.close();
    // Closing alone would first send what is buffered.
    if (socket) socket.destroy();
    this.#isOpen = false;
  }

  /** `start` may extend the time once, for what comes next. */
  async #run(
    what: string,
    timeoutMs: number,
    start: (done: (error?: Error | null) => void, extend: (what: string, timeoutMs: number) => void) => void,
  ): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const limit = (of: string, ms: number) =>
      setTimeout(() => {
        reject(new SmtpFault(`the SMTP server took longer than ${ms / 1_000} s for ${of}`, { of: 'server' }));
      }, ms);
    let timer = limit(what, timeoutMs);
    this.#lost = reject;
    try {
      start(
        (error) => (error ? reject(error) : resolve()),
        (next, nextMs) => {
          clearTimeout(timer);
          timer = limit(next, nextMs);
        },
      );
      await promise;
    } catch (error) {
      const fault = smtpFaultOf(error, { takesMail: this.#takesMail });
      // After a reply about the message, the next one may use the connection.
      if (fault.of === 'server' || !fault.code) this.destroy();
      throw fault;
    } finally {
      clearTimeout(timer);
      this.#lost = undefined;
    }
  }
}

/** Why a message was not sent, or may not have been. Neither an address nor a word of the server's: both may be an adopter's. */
export class SmtpFault extends Error {
  /**
   * Whose it is: `recipient` if the server rejected this message alone. Everything else is about the server or the settings: then other
   * messages fail as well.
   */
  readonly of: 'recipient' | 'server';
  /** Whether the server would reject the message again. */
  readonly isPermanent: boolean;
  /** The SMTP code, such as 550 5.1.1. */
  readonly code: string | undefined;

  constructor(what: string, { of, isPermanent = false, code, cause }: SmtpFaultDetails) {
    super(code ? `${what}: ${code}` : what, { cause });
    this.of = of;
    this.isPermanent = isPermanent;
    this.code = code;
  }
}

interface SmtpFaultDetails {
  readonly of: 'recipient' | 'server';
  readonly isPermanent?: boolean;
  readonly code?: string | undefined;
  /** Of the connection: an error without a reply of the server. */
  readonly cause?: unknown;
}

/** What nodemailer adds to its errors. */
interface Details extends Error {
  readonly code?: string;
  readonly originalCode?: string;
  readonly response?: string;
  readonly responseCode?: number;
  readonly command?: string;
}

/** The reply asks for a login, or for TLS: no message is at fault. */
const loginCodes = [530, 534, 535, 538];
const closing = 421;
/** The server relays for nobody, has a policy against the store, or dislikes the sender (RFC 3463): many check that only here. */
const ofStore = /^5\d\d 5\.(?:7\.\d+|1\.[78])$/;
/** Without an enhanced code, these say either that or that the mailbox doesn't exist. */
const unclear = ['550', '553', '554'];

/** `takesMail`: the server has taken a recipient on this connection, so what it rejects is not the store. */
export function smtpFaultOf(error: unknown, { takesMail = false }: { readonly takesMail?: boolean } = {}): SmtpFault {
  if (error instanceof SmtpFault) return error;
  const details = error as Details;
  const { response, responseCode, command = 'CONN' } = details;
  // Neither the message nor the cause: both have the reply.
  if (responseCode === undefined || response === undefined) return faultOfConnection(details);
  const code = codeOf(response);
  const isOfStore = command === 'RCPT TO' && (ofStore.test(code) || (unclear.includes(code) && !takesMail));
  const isOfMessage =
    (command === 'RCPT TO' || command === 'DATA') && responseCode !== closing && !loginCodes.includes(responseCode) && !isOfStore;
  if (!isOfMessage) return new SmtpFault(`the SMTP server replied to ${command}`, { of: 'server', code });
  // 503: the commands came in another order than the server expected.
  const isPermanent = responseCode >= 500 && responseCode < 600 && responseCode !== 503;
  return new SmtpFault(`the SMTP server replied to ${command}`, { of: 'recipient', isPermanent, code });
}

function faultOfConnection({ code, originalCode, message, name, command, stack }: Details): SmtpFault {
  // Nodemailer's own check of the envelope, whose message has the address.
  if (code === 'EENVELOPE') return new SmtpFault('the address is not valid', { of: 'recipient', isPermanent: true, code: badAddress });
  const cause = Object.assign(new Error(message), { name, stack, code: originalCode ?? code, command });
  return new SmtpFault(`the connection to the SMTP server failed (${message})`, { of: 'server', cause });
}

/** The code of an address that can't exist, as a server would reply. */
export const badAddress = '553 5.1.3';

/** The code of a reply, and its enhanced one (RFC 3463) if there is one. */
function codeOf(response: string): string {
  const [, code = '', enhanced] = /^(\d{3})(?:[ -]([245]\.\d{1,3}\.\d{1,3})\b)?/.exec(response) ?? [];
  return enhanced ? `${code} ${enhanced}` : code;
}
