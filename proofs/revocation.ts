// A revoked key is refused by every process from the moment that its revocation has returned, whatever Redis does meanwhile.
import { setTimeout as sleep } from 'node:timers/promises';
import { HttpClient, type Response } from '../testkit/http.ts';
import { Staff } from '../testkit/staff.ts';
import { type Key, Store } from '../testkit/store.ts';
import type { Claim, Proof, ProofContext } from './proof.ts';

const processes = 4;
const keysPerClient = 20;
const limits = { perMinute: 1_000_000, perDay: 100_000_000 };
const restoreTimeoutMs = 10_000;

type Revoke = (key: Key) => Promise<unknown>;

/** How many keys were refused by every process with the first request after their revocation, and again at the end. */
interface Tally {
  readonly keys: number;
  readonly refused: number;
  readonly refusedLater?: number;
}

interface Scene {
  readonly store: Store;
  readonly staff: Staff;
  readonly http: HttpClient;
  readonly revoke: Revoke;
}

export const revocation: Proof = {
  name: 'revocation',
  promise: 'a revoked key is refused from its next request on, by every process',
  hasMutant: true,
  run,
};

async function run({ short, mutant, progress }: ProofContext): Promise<Claim[]> {
  // Whoever sends a revoked key is counted by address, so each request comes from an address of its own.
  await using store = await Store.open({ processes, env: { HOMEWARD_TRUSTED_PROXIES: '127.0.0.1' } });
  await using staff = await Staff.of(store);
  using http = new HttpClient();
  // The mutant revokes in PostgreSQL and tells no process.
  const revoke: Revoke = mutant ? (key) => staff.revokeUnannounced(key) : (key) => staff.revoke(key);
  const scene: Scene = { store, staff, http, revoke };
  const rounds = short ? 150 : 1_000;

  progress(`${rounds} revocations`);
  const plain = await inPairs(await newKeys(scene, 'plain', rounds), (key) => revokeOne(scene, key));
  progress('by the command');
  const command: Revoke = (key) => store.homeward('keys', 'revoke', String(key.id));
  const byCommand = await inPairs(await newKeys(scene, 'command', short ? 4 : 36), (key) => revokeOne({ ...scene, revoke: command }, key));
  progress('Redis emptied');
  const emptied = await inTurn(await newKeys(scene, 'emptied', short ? 10 : 100), (key) => revokeOne(scene, key, () => empty(scene)));
  const faultKeys = short ? 10 : 40;
  progress('Redis frozen');
  const frozen = await revokeWhileFrozen(scene, await newKeys(scene, 'frozen', faultKeys));
  progress('Redis killed');
  const killed = await revokeWhileDown(scene, await newKeys(scene, 'killed', faultKeys));

  return [
    claimOf('revoked', plain),
    claimOf("revoked by 'homeward keys revoke'", byCommand),
    claimOf('revoked after Redis was emptied', emptied),
    claimOf('revoked while Redis was frozen, and again when it woke', frozen),
    claimOf('revoked while Redis was down, and again when it was back with the data of before', killed),
  ];
}

function claimOf(what: string, { keys, refused: rejected, refusedLater: rejectedLater }: Tally): Claim {
  return {
    claim: `Keys ${what}: the next request is 401 api_key_revoked on each of ${processes} processes`,
    bar: `${keys} of ${keys}`,
    figure: `${rejected} of ${keys}${rejectedLater === undefined ? '' : `, then ${rejectedLater} of ${keys}`}`,
    holds: keys > 0 && rejected === keys && (rejectedLater ?? keys) === keys,
  };
}

/** True where every process refuses the key at once. A request is still under way in each when it is revoked. */
async function revokeOne(scene: Scene, key: Key, beforehand?: () => Promise<void>): Promise<boolean> {
  await warm(scene, key);
  await beforehand?.();
  const underWay = askAll(scene, key);
  await scene.revoke(key);
  const rejected = await isRejected(scene, key);
  await underWay;
  return rejected;
}

async function revokeWhileFrozen(scene: Scene, keys: readonly Key[]): Promise<Tally> {
  await Promise.all(keys.map((key) => warm(scene, key)));
  await scene.store.redis.signal('SIGSTOP');
  const rejected = await revokeAll(scene, keys);
  await scene.store.redis.signal('SIGCONT');
  return { ...tally(rejected), refusedLater: await countRejectedOnceBack(scene, keys) };
}

/** Redis comes back with what it held before: the epochs under which the keys were valid. */
async function revokeWhileDown(scene: Scene, keys: readonly Key[]): Promise<Tally> {
  await Promise.all(keys.map((key) => warm(scene, key)));
  await scene.staff.dependencies.redis.client.save();
  await scene.store.redis.signal('SIGKILL');
  const rejected = await revokeAll(scene, keys);
  await scene.store.redis.start();
  return { ...tally(rejected), refusedLater: await countRejectedOnceBack(scene, keys) };
}

async function revokeAll(scene: Scene, keys: readonly Key[]): Promise<boolean[]> {
  return Promise.all(
    keys.map(async (key) => {
      await scene.revoke(key);
      return isRejected(scene, key);
    }),
  );
}

/** Asked in the moment that Redis is back, and once more when every process has found it again. */
async function countRejectedOnceBack(scene: Scene, keys: readonly Key[]): Promise<number> {
  const atOnce = await Promise.all(keys.map((key) => isRejected(scene, key)));
  await untilRestored(scene.store);
  const later = await Promise.all(keys.map((key) => isRejected(scene, key)));
  return later.filter((rejected, i) => rejected && atOnce[i]).length;
}

async function untilRestored(store: Store): Promise<void> {
  const deadline = Date.now() + restoreTimeoutMs;
  for (const { url } of store.processes) {
    const readiness = url.replace('/v1', '/readyz');
    while (!((await (await fetch(readiness)).json()) as { redis: boolean }).redis) {
      if (Date.now() > deadline) throw new Error(`a process has not found Redis again in ${restoreTimeoutMs} ms`);
      await sleep(20);
    }
  }
}

const empty = async ({ staff }: Scene) => void (await staff.dependencies.redis.client.flushall());

async function newKeys({ staff }: Scene, client: string, count: number): Promise<Key[]> {
  const keys: Key[] = [];
  for (let number = 1; keys.length < count; number += 1) {
    keys.push(...(await staff.createKeys(`${client} ${number}`, limits, Math.min(keysPerClient, count - keys.length))));
  }
  return keys;
}

/** Each process has admitted the key twice: it remembers it by then. */
async function warm(scene: Scene, key: Key): Promise<void> {
  for (let time = 0; time < 2; time += 1) {
    const responses = await askAll(scene, key);
    const other = responses.find(({ status }) => status !== 404);
    if (other) throw new Error(`a valid key got ${other.status}: ${other.text}`);
  }
}

async function isRejected(scene: Scene, key: Key): Promise<boolean> {
  const responses = await askAll(scene, key);
  return responses.every(({ status, text }) => status === 401 && text.includes('"api_key_revoked"'));
}

let asked = 0;

/** One request to each process, for an animal that there is not: nothing but the key decides how it ends. */
async function askAll({ store, http }: Scene, { key }: Key): Promise<Response[]> {
  return Promise.all(
    store.processes.map(({ url }) => {
      asked += 1;
      const address = `10.${(asked >> 16) & 255}.${(asked >> 8) & 255}.${asked & 255}`;
      return http.send(`${url}/pets/none`, { key, headers: { 'x-forwarded-for': address } });
    }),
  );
}

/** Two at a time, of which the second has the same client as often as not. */
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

const tally = (rejected: readonly boolean[]): Tally => ({ keys: rejected.length, refused: rejected.filter(Boolean).length });
