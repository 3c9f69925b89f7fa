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
