import { BlockList, isIP } from 'node:net';

/** Where mail is given to. */
export interface SmtpServer {
  readonly host: string;
  readonly port: number;
  /** TLS from the start. Else by STARTTLS, without which nothing is sent, except to this machine. */
  readonly isTls: boolean;
  readonly isLoopback: boolean;
  readonly login: { readonly user: string; readonly password: string } | undefined;
}

export class InvalidSmtpUrl extends Error {}

const ports = { 'smtp:': 587, 'smtps:': 465 } as const;
const encoding = 'in the user and the password, write "@" as %40, "/" as %2F, "?" as %3F, "#" as %23 and "%" as %25';

/** No message shows the URL, which has a password. */
export function parseSmtpUrl(text: string): SmtpServer {
  const scheme = /^smtps?:(?=\/\/)/.exec(text)?.[0] as keyof typeof ports | undefined;
  if (!scheme) throw new InvalidSmtpUrl('must start with smtp:// (STARTTLS) or smtps:// (TLS from the start).');
  const url = URL.parse(text);
  const host = url?.hostname.replace(/^\[|\]$/g, '');
  if (!url || !host) throw new InvalidSmtpUrl(`can't be parsed. Write ${scheme}//USER:PASSWORD@HOST:${ports[scheme]}; ${encoding}.`);
  if (url.pathname.length > 1 || url.search || url.hash) throw new InvalidSmtpUrl(`must end with the port: ${encoding}.`);
  if ((url.username === '') !== (url.password === ''))
    throw new InvalidSmtpUrl('has a user without a password, or a password without a user.');
  return {
    host,
    port: Number(url.port || ports[scheme]),
    isTls: scheme === 'smtps:',
    isLoopback: isLoopback(host),
    login: url.username ? { user: decoded(url.username), password: decoded(url.password) } : undefined,
  };
}

/** As operators write it: mail.example.org:587. */
export const describeSmtp = ({ host, port }: SmtpServer): string => `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8);
loopback.addAddress('::1', 'ipv6');
const isLoopback = (host: string) => host === 'localhost' || (isIP(host) !== 0 && loopback.check(host, isIP(host) === 6 ? 'ipv6' : 'ipv4'));

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new InvalidSmtpUrl(`has a "%" that is not followed by two hexadecimal digits: ${encoding}.`);
  }
}
