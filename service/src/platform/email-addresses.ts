import { domainToASCII } from 'node:url';

/**
 * One key for all spellings of a mailbox, by which adopters are told apart: in lower case, without a tag such as `+dogs`, with the domain as
 * it is sent to. Mail goes to the address as it was given.
 */
export function normalizeEmail(email: string): string {
  const at = email.lastIndexOf('@');
  const domain = email.slice(at + 1);
  const name = email
    .slice(0, at)
    .normalize('NFKC')
    .toLowerCase()
    .replace(/(?<=.)\+.*/su, '');
  // A domain that can't exist has no ASCII.
  return `${name}@${(domainToASCII(domain) || domain.toLowerCase()).replace(/\.$/, '')}`;
}

/**
 * The address of a person who signs in: in lower case, with its domain in ASCII. Undefined: it is none. Only ASCII letters become lower case:
 * other letters, such as U+212A, would become those of somebody else's address.
 */
export function canonicalAddress(text: string): string | undefined {
  const email = text.trim().normalize('NFC');
  if (!personAddress.test(email)) return undefined;
  const at = email.lastIndexOf('@');
  const name = email.slice(0, at).replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  const domain = domainToASCII(email.slice(at + 1)).replace(/\.$/, '');
  const address = `${name}@${domain}`;
  return domain === '' || address.length > 254 ? undefined : address;
}

/** As the API accepts addresses: without quotes, comments or a source route. */
const personAddress = /^[^\s\p{C}"<>()[\]\\,;:@]{1,64}@[\p{L}\p{M}\p{Nd}.-]{1,253}$/u;

export interface MailAddress {
  readonly address: string;
  readonly name?: string | undefined;
}

/** Reads `no-reply@store.example` or `Danube Shelter <no-reply@store.example>`. Undefined: it is neither. */
export function parseMailAddress(text: string): MailAddress | undefined {
  const [, name, bracketed] = /^([^<>\p{C}]*)<([^<>]+)>$/u.exec(text.trim()) ?? [];
  const address = bracketed ?? text.trim();
  if (!/^[\x21-\x7e]+$/.test(address) || !/^[^\s"<>()[\]\\,;:@]+@[a-z\d-]+(\.[a-z\d-]+)+$/i.test(address)) return undefined;
  return { address, name: name?.trim().replace(/^"(.*)"$/, '$1') || undefined };
}

/** What the sender of a store's mail calls it: no shelter and no partner writes that. */
export const storeNameOf = ({ name, address }: MailAddress): string => name ?? address.slice(address.lastIndexOf('@') + 1);
