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
