import { domainToASCII } from 'node:url';
import MailComposer from 'nodemailer/lib/mail-composer';
import { controls, reorderings } from '../../platform/characters.ts';
import type { MailAddress } from '../../platform/email-addresses.ts';
import type { Envelope } from './smtp-session.ts';

/** What is sent about a subject. Names, texts and addresses may be those of strangers. */
export interface MailMessage {
  readonly to: MailAddress;
  /** Who reads a reply. Undefined: the store. */
  readonly replyTo?: MailAddress | undefined;
  readonly subject: string;
  readonly text: string;
  /** About which shelter it is, and by which client's application. Undefined: about none. */
  readonly shelter?: { readonly id: bigint; readonly clientId?: bigint };
  /** Its owner has never confirmed the address, so the message counts as one that asks for it. */
  readonly isUnconfirmed?: boolean;
}

interface Sending {
  readonly from: MailAddress;
  /** Undefined: replies go to the sender. */
  readonly replyTo: MailAddress | undefined;
  /** A BCP 47 tag, such as en. */
  readonly language: string;
  readonly id: bigint;
  /** When it was queued. */
  readonly createdAt: Date;
}

const nameLengthMax = 100;
const subjectLengthMax = 200;

/** Its bytes, and the envelope with the one recipient. Undefined: no message can be sent to such an address. */
export async function composeMessage(message: MailMessage, sending: Sending): Promise<{ envelope: Envelope; bytes: Buffer } | undefined> {
  const [to, replyTo, from] = [message.to, message.replyTo ?? sending.replyTo, sending.from].map(
    (address) => address && deliverable(address),
  );
  if (!to || !from) return undefined;
  const composed = new MailComposer({
    from,
    to,
    replyTo,
    subject: oneLine(message.subject, subjectLengthMax),
    text: message.text,
    messageId: messageIdOf(sending),
    // For programs that reply to mail, such as those of someone who is away (RFC 3834; the other one is Microsoft's).
    headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All', 'Content-Language': sending.language },
    disableFileAccess: true,
    disableUrlAccess: true,
    newline: 'win',
  });
  return { envelope: { from: from.address, to: to.address }, bytes: await composed.compile().build() };
}

/** Stays the same at each attempt. With the time: after a restore an id may be assigned again. */
const messageIdOf = ({ id, createdAt, from }: Pick<Sending, 'id' | 'createdAt' | 'from'>): string =>
  `<mail.${id}.${createdAt.getTime().toString(36)}@${asciiDomainOf(from.address)}>`;

/** As the API accepts addresses: without quotes, comments or a source route. */
const addressPattern = /^[^\s\p{C}"<>()[\]\\,;:@]{1,64}@[\p{L}\p{M}\p{Nd}.-]{1,253}$/u;

function deliverable({ name, address }: MailAddress): { name: string; address: string } | undefined {
  const domain = asciiDomainOf(address);
  if (!addressPattern.test(address) || address.length > 254 || domain === '') return undefined;
  return { name: oneLine(name ?? '', nameLengthMax), address: `${address.slice(0, address.lastIndexOf('@'))}@${domain}` };
}

const asciiDomainOf = (address: string) => domainToASCII(address.slice(address.lastIndexOf('@') + 1));

const breaks = new RegExp(`[${controls}${reorderings}\\u2028\\u2029]+`, 'gu');

/** A header is one line, and no longer than people read. What looks like an encoded word (RFC 2047) would be decoded by who reads it. */
function oneLine(text: string, lengthMax: number): string {
  const line = text.toWellFormed().replace(breaks, ' ').replaceAll('=?', '= ?').trim();
  const characters = [...line];
  return characters.length > lengthMax ? `${characters.slice(0, lengthMax - 1).join('')}…` : line;
}
