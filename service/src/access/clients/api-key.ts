import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { keyPrefixes } from '../../domain/token-formats.ts';
import type { Environment } from '../../platform/config.ts';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const secretLength = 32;
const checksumLength = 6;
const shape = new RegExp(`^(${Object.values(keyPrefixes).join('|')})[0-9A-Za-z]{${secretLength + checksumLength}}$`);

/** 190 random bits and a checksum. The checksum lets secret scanners recognise a key, and rejects a typo without a look-up. */
export function mintApiKey(environment: Environment): string {
  const secret = Array.from({ length: secretLength }, () => alphabet[randomInt(alphabet.length)]).join('');
  const body = keyPrefixes[environment] + secret;
  return body + checksum(body);
}

/** The environment of a well-formed key; undefined if the text can't be a key. */
export function environmentOfKey(key: string): Environment | undefined {
  if (!shape.test(key) || !key.endsWith(checksum(key.slice(0, -checksumLength)))) return undefined;
  return key.startsWith(keyPrefixes.production) ? 'production' : 'staging';
}

/** SHA-256 without a salt: a secret of 190 random bits needs neither a salt nor a slow hash. */
export const hashApiKey = (key: string, encoding: 'hex' | 'base64' = 'hex'): string => hash('sha256', key, encoding);

/** The part of a key that may be shown: enough to distinguish it from others, too little to guess it. */
export const keyHint = (key: string): string => `${key.slice(0, 11)}…${key.slice(-4)}`;

function checksum(body: string): string {
  let rest = crc32(body);
  let text = '';
  for (let i = 0; i < checksumLength; i += 1) {
    text = alphabet.charAt(rest % alphabet.length) + text;
    rest = Math.floor(rest / alphabet.length);
  }
  return text;
}
