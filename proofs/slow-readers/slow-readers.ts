// Clients that read their responses too slowly, or not at all, on every kind of response.
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { DirectoryStore } from '../../service/src/images/directory-store.ts';
import { pictureName } from '../../service/src/images/photo-store.ts';
import { addAnimals, castOf, queryStore } from '../../testkit/adopters.ts';
import { HttpClient } from '../../testkit/http.ts';
import { MemoryWatch } from '../../testkit/memory-watch.ts';
import { type Pace, SlowReader } from '../../testkit/slow-reader.ts';
import { SteadyLoad } from '../../testkit/steady-load.ts';
import { type Key, type ServeProcess, Store } from '../../testkit/store.ts';
import { temporaryFolder } from '../../testkit/temporary-folder.ts';
import { none } from '../claims.ts';
import type { Claim, Proof, ProofContext } from '../proof.ts';
import { type Kind, kindsOf, photoBytes } from './response-kinds.ts';

/** More than the bound of the process, if each has as many unsent bytes as it may. */
const clientsCount = 20;
const animalsCount = 45;
const growthBytesMax = 64_000_000;
/** 10 s without a byte, and the time that the process takes to write all the responses. */
const stalledMsMax = 30_000;
/** The bound of the largest response, a photo, and as much time again to write the others. */
const overdueMsMax = (60 + photoBytes / 16_000) * 1_000 + stalledMsMax - 10_000;
const quickTimeoutMs = 120_000;
const floodCount = 8_000;
const floodBytes = 2_000;

/** How each reads. On loopback a window of 64 kB opens at once, so one that drips slowly stalls for longer than 10 s. */
const paces = {
  'read nothing': {},
  'stop in the middle': { firstBytes: 300_000 },
  drip: { drip: { bytes: 4_000, intervalMs: 1_000 } },
} satisfies Record<string, Pace>;
/** Always in motion, but too slow for a photo. */
const steadyDrip = { drip: { bytes: 7_500, intervalMs: 1_000 } };
/** A partner on a slow line, which takes 8 MB in 80 s. */
const pageBytes = 950_000;
const partnerBytesMin = 8 * pageBytes;
const partnerMsMax = 100_000;
const slowLine = { drip: { bytes: 10_000, intervalMs: 100 } };

export const slowReaders: Proof = {
  name: 'slow-readers',
  promise: 'a client that reads nothing, or too slowly, is disconnected, and takes bounded memory',
  // The mutant has no write timeout.
  mutant: [{ file: 'platform/http/response-progress.ts', from: 'if (reason) this.#close(backlog, reason);', to: '' }],
  runsAlone: true,
  isNightly: true,
  run,
};

async function run({ short, root, progress }: ProofContext): Promise<Claim[]> {
  using temporary = temporaryFolder('slow-readers');
  const folder = temporary.path;
  await using store = await Store.open({ processes: 1, root, env: { LOG_LEVEL: 'warn', HOMEWARD_PHOTOS: folder } });
  store.work();
  const [serve] = store.processes;
  if (!serve?.child.pid) throw new Error('no process');
  const { manager, partners } = await castOf(store, clientsCount);
  const kinds = kindsOf(await fill(store, manager, folder));
  using http = new HttpClient(4);
  const honest = new SteadyLoad(10, () => http.send(`${serve.url}/pets`, { key: manager.key }));
  const open = async (kind: Kind, pace: Pace, i: number) => {
    const key = partners[i % clientsCount] ?? manager;
    return SlowReader.open(portOf(serve), kind.requests(key.key), { ...pace, localAddress: `127.0.1.${1 + (i % clientsCount)}` });
  };
  const count = short ? 60 : 500;
  progress('the same requests by quick readers');
  // A stream and a rejected upload have no next response.
  const ending = kinds.filter(({ isLast }) => !isLast);
  await readWhole(await openEach(ending, [{ firstBytes: Number.POSITIVE_INFINITY }], count, open));
  await sleep(1_000);

  using memory = new MemoryWatch([serve.child.pid]);
  const stuck = await openEach(kinds, Object.values(paces), count, open);
  const [page] = kinds.filter(({ name }) => name === 'a page of listings');
  const partner = page && !short ? await SlowReader.open(portOf(serve), page.requests(manager.key), slowLine) : undefined;
  await flood(store);
  const stuckMs = await closedMs(stuck, stalledMsMax, (left) => progress(`${left} sockets are open`));
  // Only now: while the process has too many unsent bytes, they would be closed for that.
  const [photo] = kinds.filter(({ name }) => name === 'a photo');
  const steady = photo && !short ? await Promise.all([0, 1, 2, 3].map((i) => open(photo, steadyDrip, i))) : [];
  const steadyMs = await closedMs(steady, overdueMsMax, (left) => progress(`${left} steady sockets are open`));
  progress('a partner on a slow line reads on');
  for (const giveUpAtMs = performance.now() + partnerMsMax; performance.now() < giveUpAtMs; await sleep(100)) {
    if (!partner?.isOpen || partner.readBytes >= partnerBytesMin) break;
  }
  const partnerBytes = partner?.readBytes ?? 0;
  partner?.[Symbol.dispose]();
  for (const reader of [...stuck, ...steady]) reader[Symbol.dispose]();
  const requests = await honest.stop();
  const failures = requests.filter(({ response }) => response?.status !== 200).length;
  return [
    {
      claim: `${stuck.length} sockets that ${Object.keys(paces).join(', ')}, on ${kinds.length} kinds of response: closed`,
      bar: `all, within ${stalledMsMax / 1_000} s: 10 s without a byte, and the time to write the responses`,
      figure: describeClosed(stuckMs, stuck.length),
      holds: stuckMs.length === stuck.length,
      isTimed: true,
    },
    ...(steady.length === 0
      ? []
      : [
          {
            claim: `${steady.length} sockets that take 7.5 kB a second of photos of ${photoBytes / 1_000_000} MB, without a pause: closed`,
            bar: `all, within ${overdueMsMax / 1_000} s`,
            figure: describeClosed(steadyMs, steady.length),
            holds: steadyMs.length === steady.length,
          },
          {
            claim: 'A partner on a slow line, 100 kB a second, beside them: pages of 1 MB that it could read',
            bar: 'all 8',
            figure: `${Math.floor(partnerBytes / pageBytes)}`,
            holds: partnerBytes >= partnerBytesMin,
          },
        ]),
    {
      claim: 'Memory of `serve` at the peak, beyond that after the same requests by quick readers',
      bar: `${growthBytesMax / 1_000_000} MB`,
      figure: `${(memory.growth / 1_000_000).toFixed(0)} MB`,
      holds: memory.growth <= growthBytesMax,
    },
    none('Requests of an honest client meanwhile that failed', failures, { of: requests.length }),
  ];
}

/** Animals with descriptions that make a page of 1 MB, and a photo. */
async function fill(store: Store, manager: Key, folder: string): Promise<{ petId: number; photoHash: string }> {
  const ids = await addAnimals(store, manager, animalsCount);
  await queryStore(
    store,
    `insert into profiles (pet_id, shelter_id, description) select id, shelter_id, (select string_agg(chr(8000 + floor(random() * 150)::int), '') from generate_series(1, 8000) where id > 0) from pets`,
  );
  const photoHash = 'a'.repeat(64);
  await new DirectoryStore(folder).put(pictureName(photoHash), randomBytes(photoBytes));
  return { petId: ids[0] ?? 0, photoHash };
}

/** Each kind with each pace, as often as they fit. */
async function openEach(
  kinds: readonly Kind[],
  paces: readonly Pace[],
  count: number,
  open: (kind: Kind, pace: Pace, i: number) => Promise<SlowReader>,
): Promise<SlowReader[]> {
  const combinations = kinds.flatMap((kind) => paces.map((pace) => ({ kind, pace })));
  const readers: SlowReader[] = [];
  for (const i of Array(count).keys()) {
    const { kind, pace } = combinations[i % combinations.length] ?? {};
    if (kind && pace) readers.push(await open(kind, pace, i));
  }
  return readers;
}

/** The times from now of those that are closed within `timeoutMs`; 0 if one already was. */
async function closedMs(readers: readonly SlowReader[], timeoutMs: number, progress: (left: number) => void): Promise<number[]> {
  const times: number[] = [];
  const startMs = performance.now();
  const deadlineMs = startMs + timeoutMs;
  for (const { closed } of readers) void closed.then(() => times.push(performance.now() - startMs));
  while (times.length < readers.length && performance.now() < deadlineMs) {
    await sleep(100);
    progress(readers.length - times.length);
  }
  return [...times];
}

const describeClosed = (times: readonly number[], count: number) =>
  `${times.length} of ${count}, the last after ${(Math.max(0, ...times) / 1_000).toFixed(1)} s`;

/** Ends the connections once all responses are read. */
async function readWhole(readers: readonly SlowReader[]): Promise<void> {
  for (const reader of readers) reader.send('GET /livez HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n');
  await Promise.race([Promise.all(readers.map(({ closed }) => closed)), sleep(quickTimeoutMs)]);
  for (const reader of readers) reader[Symbol.dispose]();
}

/** Events for the streams, more than the kernel buffers. */
async function flood(store: Store): Promise<void> {
  await queryStore(
    store,
    `insert into outbox (type, pet_id, data) select 'pet.removed', (select min(id) from pets), format('{"filler":"%s"}', repeat('x', $2::int)) from generate_series(1, $1::int)`,
    [floodCount, floodBytes],
  );
  for (let left = floodCount; left > 0; await sleep(50)) {
    const [row] = await queryStore<{ count: number }>(store, 'select count(*)::int as count from outbox');
    left = row?.count ?? 0;
  }
}

const portOf = ({ url }: ServeProcess) => Number(new URL(url).port);
