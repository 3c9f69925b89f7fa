import { isIP } from 'node:net';
import { controls, findCharacter } from '../characters.ts';
import { isLoopbackAddress, isPublicAddress } from './public-addresses.ts';

export const urlLengthMax = 2_000;
const portMin = 1_024;

/** An address that a client gives: as it is stored, or what is wrong with it. */
export function readTargetUrl(text: string, toLoopback: boolean): { readonly href: string } | { readonly fault: string } {
  // URL drops tabs and line feeds and encodes the others; a caller who sends them means another address, or harm.
  const refused = findCharacter(text, controls);
  if (refused) return { fault: `contains ${refused}; an address has no control characters and no lone surrogates` };
  const fault = faultOfUrl(text, toLoopback);
  if (fault) return { fault };
  const { href } = new URL(text);
  return href.length > urlLengthMax ? { fault: `is longer than ${urlLengthMax} characters once it is encoded` } : { href };
}

/** What is wrong with an address to send to, as the end of a sentence; undefined: nothing that can be seen without resolving it. */
export function faultOfUrl(text: string, toLoopback: boolean): string | undefined {
  if (text.length > urlLengthMax) return `is longer than ${urlLengthMax} characters`;
  if (!URL.canParse(text)) return 'is not an absolute URL, such as https://example.org/hooks';
  const url = new URL(text);
  if (url.username || url.password) return 'holds a user or a password, which would be stored and logged on the way; use the signature';
  if (text.includes('#')) return 'holds a fragment, which is never sent';
  const host = hostOf(url);
  if (toLoopback && isLoopbackHost(host)) return url.protocol === 'https:' || url.protocol === 'http:' ? undefined : 'is not https or http';
  if (url.protocol !== 'https:') return 'is not https';
  if (url.port && Number(url.port) < portMin) return `names port ${url.port}; use 443, or one from ${portMin} on`;
  if (isIP(host) && !isPublicAddress(host)) return 'names an address that is not public';
  if (isLoopbackHost(host)) return 'names this machine';
  return undefined;
}

/** As URL reads it: 0x7f.1 and 2130706433 are 127.0.0.1 by then. */
export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '');

export const isLoopbackHost = (host: string): boolean => isLoopbackAddress(host) || /^(.+\.)?localhost\.?$/.test(host);
