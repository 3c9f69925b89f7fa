// The attacks of a hostile partner. Each attack is one step, which its workers repeat without pauses until they are stopped.
import { mintApiKey } from '../../service/src/clients/api-key.ts';
import type { HttpClient, Response } from '../../testkit/http.ts';
import { StreamReader } from '../../testkit/stream-reader.ts';

/** The store under attack, and the keys that the attacker has. */
export interface Target {
  /** One for each process; ends in /v1. */
  readonly urls: readonly string[];
  /** All belong to one client. */
  readonly keys: readonly string[];
  readonly revokedKey: string;
  /** The key of a client without effective limits, for the lists that the attack is compared with. */
  readonly ordinaryKey: string;
}

export interface Step {
  readonly http: HttpClient;
  readonly target: Target;
  /** The number of the step, counted over all workers of the attack. */
  readonly index: number;
  readonly stopping: AbortSignal;
}

interface Attack {
  readonly workers: number;
  /** Undefined if there was no response. */
  step(step: Step): Promise<Response | undefined>;
}

/** The attacks that need the client's own quota come first. */
export const attacks: Readonly<Record<string, Attack>> = {
  'streams from the start': { workers: 24, step: (step) => stream(step, '') },
  'streams of a rare type': { workers: 24, step: (step) => stream(step, '?type=pet.removed') },
  'orders of every animal': { workers: 4, step: orderListed },
  'new categories': { workers: 2, step: addToNewCategory },
  'endpoints with control characters': { workers: 2, step: addEndpoint },
  'big bodies': { workers: 1, step: sendBigBody },
  'invented keys': { workers: 8, step: inventKey },
  'a revoked key': { workers: 2, step: useRevokedKey },
  '/openapi.json': { workers: 2, step: readDocument },
};

/** An order by a plausible adopter. One in ten has an invalid address, and one in ten the same address each time, in mixed case. */
export function order({ http, target, index }: Step, petId: number): Promise<Response> {
  const email =
    index % 10 === 8 ? 'x@x' : index % 10 === 9 ? mixedCase('always.the.same@example.org', index) : `adopter${index}@example.org`;
  const body = { petId, adopter: { name: `Adopter ${index}`, email } };
  return http.send(`${urlOf(target, index)}/store/orders`, { method: 'POST', key: keyOf(target, index), body });
}

/** An ordinary list: the first page of all animals, or of one category. */
export const list = ({ http, target, index }: Step): Promise<Response> =>
  http.send(`${urlOf(target, index)}/pets${index % 4 === 0 ? '' : `?categoryId=${1 + (index % 10)}`}`, { key: target.ordinaryKey });

const streamMs = 2_000;
const catalogueSize = 100;
const bodyBytes = 1_000_000;

/** Reads for a while and disconnects; the next step starts from the beginning again. */
async function stream({ target, index, stopping }: Step, query: string): Promise<Response | undefined> {
  const url = `${urlOf(target, index)}/events${query}`;
  using reader = await StreamReader.open(url, { key: keyOf(target, index), keepsEvents: false });
  const ending = AbortSignal.any([stopping, AbortSignal.timeout(streamMs)]);
  if (reader.status === 200) await until(ending, () => reader.isEnded);
  return { status: reader.status, headers: reader.headers, text: '' };
}

const listed: number[] = [];

async function orderListed(step: Step): Promise<Response | undefined> {
  const { http, target, index } = step;
  const petId = listed.pop();
  if (petId !== undefined) return order(step, petId);
  const page = await http.send(`${urlOf(target, index)}/pets?status=available&limit=${catalogueSize}`, { key: keyOf(target, index) });
  if (page.status === 200) listed.push(...(JSON.parse(page.text) as Array<{ id: number }>).map(({ id }) => id));
  return page;
}

/** The ids are lower than those of all named categories. */
function addToNewCategory({ http, target, index }: Step): Promise<Response> {
  const body = { name: 'Nobody', categoryId: -1_000_000 - index };
  return http.send(`${urlOf(target, index)}/pets`, { method: 'POST', key: keyOf(target, index), body });
}

const hostileTexts = ['\0', '\u001b[2J\u001b]0;owned\u0007', '\u009b2J', '\u202e', '\ud800', '\r\nSet-Cookie: a=b', '\t'];

function addEndpoint({ http, target, index }: Step): Promise<Response> {
  const text = hostileTexts[index % hostileTexts.length] ?? '';
  const url = 'http://127.0.0.1:9/hooks';
  const body = index % 2 === 0 ? { url: url + text } : { url, description: `The site${text}` };
  return http.send(`${urlOf(target, index)}/webhooks`, { method: 'POST', key: keyOf(target, index), body });
}

/** Alternates between a body just below the limit and one far above it. */
function sendBigBody({ http, target, index }: Step): Promise<Response> {
  const body = { url: 'http://127.0.0.1:9/hooks', description: 'x'.repeat(index % 2 === 0 ? bodyBytes : 2 * bodyBytes) };
  return http.send(`${urlOf(target, index)}/webhooks`, { method: 'POST', key: keyOf(target, index), body });
}

/**
 * Sends a new, well-formed key each time. The forged addresses look like many but belong to two networks: one IPv4 address
 * with varying ports, and the /64s of one /48.
 */
function inventKey({ http, target, index }: Step): Promise<Response> {
  return http.send(`${urlOf(target, index)}/pets`, { key: mintApiKey('production'), headers: { 'x-forwarded-for': forgedAddress(index) } });
}

function useRevokedKey({ http, target, index }: Step): Promise<Response> {
  return http.send(`${urlOf(target, index)}/pets`, { key: target.revokedKey, headers: { 'x-forwarded-for': forgedAddress(index) } });
}

function readDocument({ http, target, index }: Step): Promise<Response> {
  const url = urlOf(target, index).replace(/v1$/, 'openapi.json');
  return http.send(url, { headers: { 'x-forwarded-for': forgedAddress(index) } });
}

const forgedAddress = (index: number) =>
  index % 2 === 0 ? `203.0.113.7:${1_024 + (index % 60_000)}` : `2001:db8:1:${(index % 65_536).toString(16)}::1`;

const urlOf = ({ urls }: Target, index: number) => urls[index % urls.length] ?? '';
const keyOf = ({ keys, urls }: Target, index: number) => keys[Math.floor(index / urls.length) % keys.length] ?? '';
const mixedCase = (text: string, seed: number) =>
  [...text].map((one, i) => (((seed >> (i % 8)) & 1) === 1 ? one.toUpperCase() : one)).join('');

async function until(ending: AbortSignal, condition: () => boolean): Promise<void> {
  while (!ending.aborted && !condition()) await new Promise((resolve) => setTimeout(resolve, 20));
}
