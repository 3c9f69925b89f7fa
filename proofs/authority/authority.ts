// What has ended acts no more: from the moment that an end is acknowledged, nothing that was begun by it becomes true.
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { HttpClient } from '../../testkit/http.ts';
import { matrix } from '../../testkit/isolation-matrix.ts';
import { queryAt } from '../../testkit/postgres.ts';
import { SeededRandom } from '../../testkit/seeded-random.ts';
import { type Key, Store } from '../../testkit/store.ts';
import { temporaryFolder } from '../../testkit/temporary-folder.ts';
import type { Claim, Proof, ProofContext } from '../proof.ts';
import { Ends, lowering } from './ends.ts';
import { type Act, type Life, lives, untried } from './key-acts.ts';
import { personActs } from './person-acts.ts';

const processes = 4;
const writersAtOnce = 64;
const actsAtOnce = 16;
const defaultSeed = 1_000;
/** From the first act of a round to its end. */
const roundMsMax = 250;
const limits = { perMinute: 900_000_000, perDay: 900_000_000 };
const scopes = 'pets:read,pets:write,orders:read,orders:write,applications:write,webhooks:manage,store:manage';

export const authority: Proof = {
  name: 'authority',
  promise:
    'from the moment that the end of a key, a session, a role or a client is acknowledged, nothing that was begun by it becomes true',
  /** The mutant: photos read their authority at the start alone, and an end does not wait for what runs. */
  mutant: [
    {
      file: 'animals/photos/photos.ts',
      from: '    return { photo, isUsed: true };\n  }, writer);',
      to: '    return { photo, isUsed: true };\n  }, { ...writer, authority: null });',
    },
    { file: 'platform/db/pool.ts', from: 'if (tx.hasEnded) await settleEarlier(db);', to: 'if (tx.hasEnded) void settleEarlier;' },
  ],
  about: ['service/src/access/principals', 'service/src/platform/db', 'proofs/authority'],
  run,
};

async function run({ short, root, seed = defaultSeed, progress }: ProofContext): Promise<Claim[]> {
  using photos = temporaryFolder('authority');
  const env = {
    HOMEWARD_PHOTOS: photos.path,
    HOMEWARD_TRUSTED_PROXIES: '127.0.0.1',
    HOMEWARD_WEBHOOKS_TO_LOOPBACK: 'on',
    LOG_LEVEL: 'silent',
  };
  await using store = await Store.open({ processes, root, env });
  await store.homeward('shelters', 'create', '--name', 'Elbe', '--json');
  await using ends = await Ends.open(store, root ?? path.join(fileURLToPath(new URL('../..', import.meta.url))));
  const random = new SeededRandom(seed);
  progress('keys and clients');
  const keys = await keyClaims(store, ends, random, short ? 10 : 1_000);
  progress('sessions, roles and people');
  const people = await personClaim(store, ends, random, short ? 5 : 300);
  progress('beside many writers');
  const wait = await waitClaim(store, ends, short ? 2 : 50);
  progress('admins on each other');
  const admins = await adminsClaim(ends, random, short ? 2 : 100);
  return [...keys, people, wait, admins, await deadlockClaim(store)];
}

/** Rows that a transaction has written that was not over when `snapshot` was taken. Each table of the store that people and keys write. */
async function countLater(store: Store, snapshot: string): Promise<number> {
  const tables = [
    'pets',
    'profiles',
    'photos',
    'history',
    'outbox',
    'orders',
    'applications',
    'webhooks',
    'shelters',
    'categories',
    'people',
    'audit',
    'application_notes',
    'animal_texts',
    'site_settings',
  ];
  const counts = tables.map((table) => `select count(*) from ${table} where not pg_visible_in_snapshot(xmin::text::xid8, $1::pg_snapshot)`);
  const rows = await queryAt<{ count: string }>(store.postgres.url, counts.join(' union all '), [snapshot]);
  return rows.reduce((sum, { count }) => sum + Number(count), 0);
}

const readSnapshot = async (store: Store): Promise<string> => {
  const [row] = await queryAt<{ snapshot: string }>(store.postgres.url, 'select pg_current_snapshot()::text as snapshot');
  return row?.snapshot ?? '';
};

async function keyClaims(store: Store, ends: Ends, random: SeededRandom, rounds: number): Promise<Claim[]> {
  using http = new HttpClient();
  const done = new Map<string, number>();
  let late = 0;
  const unexpected = new Map<string, number>();
  // Each operation once, by a key that stays: otherwise an end would be no news to it.
  const staying = await ends.createKey('staying', limits, scopes.split(','));
  const once = lives.map((life) => life(actOf(store, http, staying, random, done, unexpected)));
  await Promise.all(once.map((life) => life.catch(ignoreRejected)));
  for (let round = 0; round < rounds; round += 1) {
    const key = await ends.createKey(`client ${round}`, limits, scopes.split(','));
    const loops = livesOf(round).map((life) => repeat(life, actOf(store, http, key, random, done, unexpected)));
    await sleep(random.between(0, roundMsMax));
    await (random.chance(0.5) ? ends.revoke(key) : ends.suspend(`client ${round}`, key));
    const snapshot = await readSnapshot(store);
    await Promise.all(loops);
    late += await countLater(store, snapshot);
  }
  const writes = Object.keys(matrix).filter((operation) => !operation.startsWith('get ') && !untried.includes(operation));
  const never = writes.filter((operation) => !done.has(operation));
  const acts = [...done.values()].reduce((sum, count) => sum + count, 0);
  return [
    {
      claim: `${rounds} keys with 12 or ${actsAtOnce} requests at once over ${processes} processes are revoked, or their clients suspended, in mid-request: rows that were committed after the end was acknowledged`,
      bar: '0',
      figure: `${late}, beside ${acts} acts`,
      holds: late === 0 && acts > rounds,
    },
    {
      claim: 'Operations that write, and were not carried out once; responses other than success and the error of the end',
      bar: '0, 0',
      figure: `${never.length}${never.length > 0 ? ` (${never.slice(0, 4).join(', ')})` : ''} of ${writes.length}, ${unexpected.size}${unexpected.size > 0 ? ` (${[...unexpected.keys()].slice(0, 4).join(', ')})` : ''}`,
      holds: never.length === 0 && unexpected.size === 0,
    },
  ];
}

/** First the same sixteen times, for each; then two of each. */
const livesOf = (round: number): Life[] => {
  const same = lives[round];
  return same ? Array.from({ length: actsAtOnce }, () => same) : lives.flatMap((life) => [life, life]);
};

class Rejected extends Error {}

/** Lives again and again until the key is rejected. */
async function repeat(life: Life, act: Act): Promise<void> {
  try {
    for (;;) await life(act);
  } catch (error) {
    ignoreRejected(error);
  }
}

function ignoreRejected(error: unknown): void {
  if (!(error instanceof Rejected)) throw error;
}

function actOf(
  store: Store,
  http: HttpClient,
  { key }: Key,
  random: SeededRandom,
  done: Map<string, number>,
  unexpected: Map<string, number>,
): Act {
  return async (operation, ids, body) => {
    const [method = '', template = ''] = operation.split(' ');
    const place = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(ids[name]));
    const { url } = store.processes[random.between(0, store.processes.length - 1)] ?? { url: '' };
    const sent = Buffer.isBuffer(body) ? { raw: body, headers: { 'content-type': 'image/jpeg' } } : { body };
    const { status, text } = await http.send(`${url}${place}`, { method: method.toUpperCase(), key, ...sent });
    const code = status >= 400 ? (JSON.parse(text) as { code: string }).code : '';
    if (code === 'api_key_revoked' || code === 'client_suspended') throw new Rejected();
    // Two lives at once share a category, and busy photo slots and connections are told so.
    if (status >= 400 && ![429, 503].includes(status) && code !== 'too_many_uploads')
      unexpected.set(`${operation}: ${code}`, (unexpected.get(`${operation}: ${code}`) ?? 0) + 1);
    if (status >= 400) throw new Rejected();
    done.set(operation, (done.get(operation) ?? 0) + 1);
    return text === '' ? { id: 0 } : (JSON.parse(text) as { id: number });
  };
}

async function personClaim(store: Store, ends: Ends, random: SeededRandom, rounds: number): Promise<Claim> {
  const consoles = [await store.openConsole(), await store.openConsole()];
  const done = { acts: 0 };
  let late = 0;
  for (let round = 0; round < rounds; round += 1) {
    const person = await ends.signIn(`person-${round}`, 'staff');
    const way = random.between(0, 3);
    const loops = personActs(person, consoles[round % 2]?.url ?? '', { done, isLowered: way === lowering });
    await sleep(50 + random.between(0, roundMsMax));
    await ends.endPerson(person, way);
    const snapshot = await readSnapshot(store);
    await Promise.all(loops);
    late += await countLater(store, snapshot);
    await ends.resume();
  }
  return {
    claim: `${rounds} people with forms and uploads on their way, who are signed out, removed, given a lesser role, or suspended with their shelter: rows that were committed after the end was acknowledged`,
    bar: '0',
    figure: `${late}, beside ${done.acts} acts`,
    holds: late === 0 && done.acts > rounds,
  };
}

async function waitClaim(store: Store, ends: Ends, rounds: number): Promise<Claim> {
  using http = new HttpClient(writersAtOnce);
  const waits: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const key = await ends.createKey(`writer ${round}`, limits, scopes.split(','));
    let isOver = false;
    const writers = Array.from({ length: writersAtOnce }, async (_, i) => {
      const { url } = store.processes[i % processes] ?? { url: '' };
      const body = i % 2 === 0 ? { name: 'Biscuit', categoryId: 1 } : { name: 'Biscuit', categoryId: 2_000_000 + i };
      while (!isOver) if ((await http.send(`${url}/pets`, { method: 'POST', key: key.key, body })).status === 401) break;
    });
    await sleep(300);
    const startedAtMs = performance.now();
    await ends.revoke(key);
    waits.push(performance.now() - startedAtMs);
    isOver = true;
    await Promise.all(writers);
  }
  waits.sort((a, b) => a - b);
  const longest = waits.at(-1) ?? Number.POSITIVE_INFINITY;
  return {
    claim: `The end of a key, beside ${writersAtOnce} connections that write with it without pause: the longest of ${rounds}`,
    bar: 'at most 2,000 ms',
    figure: `${Math.round(longest)} ms, median ${Math.round(waits[Math.floor(waits.length / 2)] ?? 0)} ms`,
    holds: longest <= 2_000,
    isTimed: true,
  };
}

/** Each of the admins acts on the next one at the same time, so that most are acted on by somebody whom they act on, or who has ended. */
async function adminsClaim(ends: Ends, random: SeededRandom, rounds: number): Promise<Claim> {
  const figures = { done: 0, rejected: 0, failed: 0 };
  for (let round = 0; round < rounds; round += 1) {
    const admins = await Promise.all(Array.from({ length: actsAtOnce }, (_, i) => ends.signIn(`admin-${round}-${i}`, 'admin')));
    const acts = admins.map((admin) => {
      const others = admins.filter((other) => other !== admin);
      return ends.endOther(admin, others[random.between(0, others.length - 1)] ?? admin, random.chance(0.5));
    });
    for (const outcome of await Promise.allSettled(acts)) figures[outcome.status === 'fulfilled' ? outcome.value : 'failed'] += 1;
    await ends.removeAll(admins);
  }
  return {
    claim: `${rounds} times, ${actsAtOnce} admins of a shelter remove each other or lower each other's role, all at once: acts that neither succeed nor are rejected`,
    bar: '0',
    figure: `${figures.failed}, beside ${figures.done} that succeeded and ${figures.rejected} that were rejected`,
    holds: figures.failed === 0 && figures.done > 0 && figures.rejected > 0,
  };
}

async function deadlockClaim(store: Store): Promise<Claim> {
  // A backend reports what it has counted when it ends, or a second later.
  await sleep(1_200);
  const [row] = await queryAt<{ deadlocks: string }>(
    store.postgres.url,
    'select sum(deadlocks)::text as deadlocks from pg_stat_database where datname = current_database()',
  );
  return { claim: 'Deadlocks in all of this', bar: '0', figure: row?.deadlocks ?? 'unknown', holds: row?.deadlocks === '0' };
}
