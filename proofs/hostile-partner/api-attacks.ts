// Attacks that need nothing but the API: with the keys of a partner, with a revoked key, and with none.
import { setTimeout as sleep } from 'node:timers/promises';
import { mintApiKey } from '../../service/src/access/clients/api-key.ts';
import type { Response } from '../../testkit/http.ts';
import { StreamReader } from '../../testkit/stream-reader.ts';
import { type Step, urlOf } from './attack.ts';

/** An order by a plausible adopter. One in ten has an invalid address, and one in ten the same address each time, in mixed case. */
function order({ http, target, keys, index }: Step, petId: number): Promise<Response> {
  const email =
    index % 10 === 8 ? 'x@x' : index % 10 === 9 ? mixedCase('always.the.same@example.org', index) : `adopter${index}@example.org`;
  const body = { petId, adopter: { name: `Adopter ${index}`, email } };
  return http.send(`${urlOf(target, index)}/store/orders`, { method: 'POST', key: keys.partner, body });
}

const streamMs = 2_000;
const catalogueSize = 100;
const bodyBytes = 1_000_000;

/** Reads for a while and disconnects; the next step starts from the beginning again. */
export async function stream({ target, keys, index, stopping }: Step, query: string): Promise<Response | undefined> {
  const url = `${urlOf(target, index)}/events${query}`;
  using reader = await StreamReader.open(url, { key: keys.partner, keepsEvents: false });
  const ending = AbortSignal.any([stopping, AbortSignal.timeout(streamMs)]);
  if (reader.status === 200) await until(ending, () => reader.isEnded);
  return { status: reader.status, headers: reader.headers, text: '' };
}

const listed: number[] = [];
let listing: Promise<Response> | undefined;

/** Orders what is listed as available. Those who find the list empty read it together. */
export async function orderListed(step: Step): Promise<Response> {
  const petId = listed.pop();
  if (petId !== undefined) return order(step, petId);
  listing ??= listAvailable(step).finally(() => {
    listing = undefined;
  });
  return listing;
}

async function listAvailable({ http, target, keys, index }: Step): Promise<Response> {
  const page = await http.send(`${urlOf(target, index)}/pets?status=available&limit=${catalogueSize}`, { key: keys.partner });
  if (page.status === 200) listed.push(...(JSON.parse(page.text) as Array<{ id: number }>).map(({ id }) => id));
  return page;
}

/** The ids are lower than those of all named categories. */
export function addToNewCategory({ http, target, keys, index }: Step): Promise<Response> {
  const body = { name: 'Nobody', categoryId: -1_000_000 - index };
  return http.send(`${urlOf(target, index)}/pets`, { method: 'POST', key: keys.partner, body });
}

const hostileTexts = ['\0', '\u001b[2J\u001b]0;owned\u0007', '\u009b2J', '\u202e', '\ud800', '\r\nSet-Cookie: a=b', '\t'];

export function addEndpoint({ http, target, keys, index }: Step): Promise<Response> {
  const text = hostileTexts[index % hostileTexts.length] ?? '';
  const url = 'http://127.0.0.1:9/hooks';
  const body = index % 2 === 0 ? { url: url + text } : { url, description: `The site${text}` };
  return http.send(`${urlOf(target, index)}/webhooks`, { method: 'POST', key: keys.partner, body });
}

/** Alternates between a body just below the limit and one far above it. */
export function sendBigBody({ http, target, keys, index }: Step): Promise<Response> {
  const body = { url: 'http://127.0.0.1:9/hooks', description: 'x'.repeat(index % 2 === 0 ? bodyBytes : 2 * bodyBytes) };
  return http.send(`${urlOf(target, index)}/webhooks`, { method: 'POST', key: keys.partner, body });
}

/**
 * Sends a new, well-formed key each time. The forged addresses look like many but belong to two networks: one IPv4 address
 * with varying ports, and the /64s of one /48.
 */
export function inventKey({ http, target, index }: Step): Promise<Response> {
  return http.send(`${urlOf(target, index)}/pets`, { key: mintApiKey('production'), headers: { 'x-forwarded-for': forgedAddress(index) } });
}

export function useRevokedKey({ http, target, index }: Step): Promise<Response> {
  return http.send(`${urlOf(target, index)}/pets`, { key: target.revokedKey, headers: { 'x-forwarded-for': forgedAddress(index) } });
}

export function readDocument({ http, target, index }: Step): Promise<Response> {
  const url = urlOf(target, index).replace(/v1$/, 'openapi.json');
  return http.send(url, { headers: { 'x-forwarded-for': forgedAddress(index) } });
}

const forgedAddress = (index: number) =>
  index % 2 === 0 ? `203.0.113.7:${1_024 + (index % 60_000)}` : `2001:db8:1:${(index % 65_536).toString(16)}::1`;

const mixedCase = (text: string, seed: number) =>
  [...text].map((one, i) => (((seed >> (i % 8)) & 1) === 1 ? one.toUpperCase() : one)).join('');

async function until(ending: AbortSignal, condition: () => boolean): Promise<void> {
  while (!ending.aborted && !condition()) await sleep(20);
}
