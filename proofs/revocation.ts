// Every process rejects a revoked key as soon as the revocation has returned, whatever happens to Redis.
import { HttpClient, type Response } from '../testkit/http.ts';
import { Staff } from '../testkit/staff.ts';
import { type Key, Store } from '../testkit/store.ts';
import { untilReadiness } from '../testkit/store-waits.ts';
import type { Claim, Proof, ProofContext } from './proof.ts';

const processes = 4;
const keysPerClient = 20;
const clientsAtOnce = 5;
const limits = { perMinute: 1_000_000, perDay: 100_000_000 };

type Revoke = (key: Key) => Promise<unknown>;

/** Of `keys`, how many were rejected by every process at the first request after the revocation, and how many again later. */
interface Tally {
  readonly keys: number;
  readonly rejected: number;
  readonly rejectedLater?: number;
}

interface Setup {
  readonly store: Store;
  readonly staff: Staff;
  readonly http: HttpClient;
  readonly revoke: Revoke;
}

export const revocation: Proof = {
  name: 'revocation',
  promise: 'every process rejects a revoked key from its next request on',
  hasMutant: true,
  run,
};

async function run({ short, mutant, progress }: ProofContext): Promise<Claim[]> {
  // Requests with a revoked key are limited by address, so each request has a different address.
  await using store = await Store.open({ processes, env: { HOMEWARD_TRUSTED_PROXIES: '127.0.0.1' } });
  await using staff = await Staff.of(store);
  using http = new HttpClient();
  // The mutant revokes in PostgreSQL and does not invalidate the processes' caches.
  const revoke: Revoke = mutant ? (key) => staff.revokeWithoutInvalidation(key) : (key) => staff.revoke(key);
  const setup: Setup = { store, staff, http, revoke };
  const rounds = short ? 150 : 1_000;

  progress(`${rounds} revocations`);
  const plain = await besideBusyKeys(setup, rounds);
  progress('by the command');
  const command: Revoke = (key) => store.homeward('keys', 'revoke', String(key.id));
  const byCommand = await inPairs(await newKeys(setup, 'command', short ? 4 : 36), (key) => revokeOne({ ...setup, revoke: command }, key));
  progress('Redis emptied');
  const emptied = await inTurn(await newKeys(setup, 'emptied', short ? 10 : 100), (key) => revokeOne(setup, key, () => empty(setup)));
  const faultKeys = short ? 10 : 40;
  progress('Redis frozen');
  const frozen = await revokeWhileFrozen(setup, await newKeys(setup, 'frozen', faultKeys));
  progress('Redis killed');
  const killed = await revokeWhileDown(setup, await newKeys(setup, 'killed', faultKeys));

  return [
    claimOf('revoked while another key of the client is busy', plain),
    claimOf("revoked by 'homeward keys revoke'", byCommand),
    claimOf('revoked after Redis was emptied', emptied),
    claimOf('revoked while Redis was frozen, and again after it resumed', frozen),
    claimOf('revoked while Redis was down, and again after it was back with its earlier data', killed),
  ];
}

function claimOf(what: string, { keys, rejected, rejectedLater }: Tally): Claim {
  return {
    claim: `Keys ${what}: the next request is 401 api_key_revoked on each of ${processes} processes`,
    bar: `${keys} of ${keys}`,
    figure: `${rejected} of ${keys}${rejectedLater === undefined ? '' : `, then ${rejectedLater} of ${keys}`}`,
    holds: keys > 0 && rejected === keys && (rejectedLater ?? keys) === keys,
  };
}

/** True if every process rejects the key at once. During the revocation, each process has a request with the key in flight. */
async function revokeOne(setup: Setup, key: Key, beforehand?: () => Promise<void>): Promise<boolean> {
  await warm(setup, key);
  await beforehand?.();
  const inFlight = sendToAll(setup, key);
  await setup.revoke(key);
  const rejected = await isRejected(setup, key);
  await inFlight;
  return rejected;
}

async function revokeWhileFrozen(setup: Setup, keys: readonly Key[]): Promise<Tally> {
  await Promise.all(keys.map((key) => warm(setup, key)));
  await setup.store.redis.signal('SIGSTOP');
  const rejected = await revokeAll(setup, keys);
  await setup.store.redis.signal('SIGCONT');
  return { ...tally(rejected), rejectedLater: await countRejectedOnceBack(setup, keys) };
}

/** Redis comes back with its earlier data: the epochs under which the keys were valid. */
async function revokeWhileDown(setup: Setup, keys: readonly Key[]): Promise<Tally> {
  await Promise.all(keys.map((key) => warm(setup, key)));
  await setup.staff.dependencies.redis.client.save();
  await setup.store.redis.signal('SIGKILL');
  const rejected = await revokeAll(setup, keys);
  await setup.store.redis.start();
  return { ...tally(rejected), rejectedLater: await countRejectedOnceBack(setup, keys) };
}

async function revokeAll(setup: Setup, keys: readonly Key[]): Promise<boolean[]> {
  return Promise.all(
    keys.map(async (key) => {
      await setup.revoke(key);
      return isRejected(setup, key);
    }),
  );
}

/** Checks the keys as soon as Redis is back, and again when every process has reconnected. */
async function countRejectedOnceBack(setup: Setup, keys: readonly Key[]): Promise<number> {
  const atOnce = await Promise.all(keys.map((key) => isRejected(setup, key)));
  await untilReadiness(setup.store, ({ redis }) => redis);
  const later = await Promise.all(keys.map((key) => isRejected(setup, key)));
  return later.filter((rejected, i) => rejected && atOnce[i]).length;
}

const empty = async ({ staff }: Setup) => void (await staff.dependencies.redis.client.flushall());

async function newKeys({ staff }: Setup, client: string, count: number): Promise<Key[]> {
  const keys: Key[] = [];
  for (let number = 1; keys.length < count; number += 1) {
    keys.push(...(await staff.createKeys(`${client} ${number}`, limits, Math.min(keysPerClient, count - keys.length))));
  }
  return keys;
}

/** Sends two requests with the key to each process, so that each has it cached. */
async function warm(setup: Setup, key: Key): Promise<void> {
  for (let time = 0; time < 2; time += 1) {
    requireValid(await sendToAll(setup, key));
  }
}

function requireValid(responses: readonly Response[]): void {
  const other = responses.find(({ status }) => status !== 404);
  if (other) throw new Error(`a valid key got ${other.status}: ${other.text}`);
}

async function isRejected(setup: Setup, key: Key): Promise<boolean> {
  const responses = await sendToAll(setup, key);
  return responses.every(({ status, text }) => status === 401 && text.includes('"api_key_revoked"'));
}

let sentCount = 0;

/** Sends one request to each process for an animal that does not exist, so that only the key decides between 404 and 401. */
async function sendToAll({ store, http }: Setup, { key }: Key): Promise<Response[]> {
  return Promise.all(
    store.processes.map(({ url }) => {
      sentCount += 1;
      const address = `10.${(sentCount >> 16) & 255}.${(sentCount >> 8) & 255}.${sentCount & 255}`;
      return http.send(`${url}/pets/none`, { key, headers: { 'x-forwarded-for': address } });
    }),
  );
}

/** Two keys of each of five clients at a time, while each process gets requests with a third key of each of these clients. */
async function besideBusyKeys(setup: Setup, count: number): Promise<Tally> {
  const rejected: boolean[] = [];
  while (rejected.length < count) {
    const clients: Key[][] = [];
    for (let i = 0; i < clientsAtOnce; i += 1) clients.push(await setup.staff.createKeys(`busy ${rejected.length / 2 + i}`, limits, 3));
    let isDone = false;
    const busy = clients.map(async ([key]) => {
      while (key && !isDone) requireValid((await Promise.all([sendToAll(setup, key), sendToAll(setup, key)])).flat());
    });
    const keys = clients.flatMap(([, ...others]) => others);
    const revoked = Promise.all(keys.map((key) => revokeOne(setup, key))).finally(() => (isDone = true));
    const [ofKeys] = await Promise.all([revoked, ...busy]);
    rejected.push(...ofKeys);
  }
  return tally(rejected);
}

/** Two at a time; mostly both keys belong to the same client. */
async function inPairs(keys: readonly Key[], revoke: (key: Key) => Promise<boolean>): Promise<Tally> {
  const rejected: boolean[] = [];
  for (let i = 0; i < keys.length; i += 2) rejected.push(...(await Promise.all(keys.slice(i, i + 2).map(revoke))));
  return tally(rejected);
}

async function inTurn(keys: readonly Key[], revoke: (key: Key) => Promise<boolean>): Promise<Tally> {
  const rejected: boolean[] = [];
  for (const key of keys) rejected.push(await revoke(key));
  return tally(rejected);
}

const tally = (rejected: readonly boolean[]): Tally => ({ keys: rejected.length, rejected: rejected.filter(Boolean).length });
