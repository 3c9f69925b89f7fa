import { createHmac, randomBytes } from 'node:crypto';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { controls, findCharacter } from '../../platform/characters.ts';

const urlLengthMax = 2_000;
const portMin = 1_024;

/** Reads the URL that a client gives: returns it as it is stored, or what is wrong with it. */
export function readTargetUrl(text: string, toLoopback: boolean): { readonly href: string } | { readonly fault: string } {
  // URL drops tabs and line feeds and encodes other control characters, so the result would not be the address that was sent.
  const rejected = findCharacter(text, controls);
  if (rejected) return { fault: `contains ${rejected}; control characters and lone surrogates are not allowed` };
  const fault = faultOfUrl(text, toLoopback);
  if (fault) return { fault };
  const { href } = new URL(text);
  return href.length > urlLengthMax ? { fault: `is longer than ${urlLengthMax} characters once it is encoded` } : { href };
}

/** What is wrong with a target URL, as a predicate such as "must use https". Undefined if it is valid. Does not resolve the host. */
export function faultOfUrl(text: string, toLoopback: boolean): string | undefined {
  if (text.length > urlLengthMax) return `is longer than ${urlLengthMax} characters`;
  if (!URL.canParse(text)) return 'must be an absolute URL, such as https://example.org/hooks';
  const url = new URL(text);
  if (url.username || url.password)
    return 'contains a user name or a password, which would be stored and logged; verify the signature instead';
  if (text.includes('#')) return 'contains a fragment, which is never sent';
  const host = hostOf(url);
  if (toLoopback && isLoopbackHost(host))
    return url.protocol === 'https:' || url.protocol === 'http:' ? undefined : 'must use https or http';
  if (url.protocol !== 'https:') return 'must use https';
  if (url.port && Number(url.port) < portMin) return `uses port ${url.port}; use 443 or a port from ${portMin} up`;
  if (isIP(host) && !isPublicAddress(host)) return 'has an address that is not public';
  if (isLoopbackHost(host)) return 'points to this machine';
  return undefined;
}

/** The host as URL parses it: 0x7f.1 and 2130706433 have become 127.0.0.1. */
export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '');

export const isLoopbackHost = (host: string): boolean => isLoopbackAddress(host) || /^(.+\.)?localhost\.?$/.test(host);

const globalUnicast: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3];

/** Whether an IP address belongs to the public internet, and not to a private or special network. */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  // ipaddr.js also calls IPv6 addresses that embed an IPv4 address unicast, so only the globally assigned range is accepted.
  if (parsed instanceof ipaddr.IPv6 && !parsed.match(globalUnicast)) return false;
  return parsed.range() === 'unicast';
}

function isLoopbackAddress(address: string): boolean {
  return ipaddr.isValid(address) && ipaddr.parse(address).range() === 'loopback';
}

const prefix = 'whsec_';
const keyBytes = 24;
/** The limits that Standard Webhooks specifies. */
const [keyBytesMin, keyBytesMax] = [24, 64];

export const newSecret = (): string => prefix + randomBytes(keyBytes).toString('base64');

/**
 * The headers of Standard Webhooks. Each secret adds a signature; a receiver needs to know only one of the secrets.
 * Throws if a secret is malformed: a truncated secret would be a key that anyone can guess.
 */
export function signedHeaders(id: string, timestampSeconds: number, body: string, secrets: readonly string[]): Record<string, string> {
  const signatures = secrets.map((secret) => {
    const key = keyOf(secret);
    if (!key) throw new TypeError('the secret is malformed');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestampSeconds}.${body}`).digest('base64')}`;
  });
  return { 'webhook-id': id, 'webhook-timestamp': String(timestampSeconds), 'webhook-signature': signatures.join(' ') };
}

/** Whether deliveries can be signed with the secret. */
export const isSecret = (secret: string): boolean => keyOf(secret) !== undefined;

function keyOf(secret: string): Buffer | undefined {
  const base64 = secret.slice(prefix.length);
  const key = Buffer.from(base64, 'base64');
  // Buffer.from ignores characters that are not base64.
  const isComplete = secret.startsWith(prefix) && key.toString('base64') === base64;
  return isComplete && key.length >= keyBytesMin && key.length <= keyBytesMax ? key : undefined;
}
