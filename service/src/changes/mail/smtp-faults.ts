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
