// Photos that are sent while workers are killed, and photos that are sent to do harm. With a directory `homeward images` decodes them,
// with a bucket children of the workers.
import type { ChildProcess } from 'node:child_process';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import sharp from 'sharp';
import type { PhotoStore } from '../../service/src/images/photo-store.ts';
import { addAnimals, castOf, queryStore } from '../../testkit/adopters.ts';
import { HttpClient, type Response } from '../../testkit/http.ts';
import { inParallel } from '../../testkit/in-parallel.ts';
import { childrenOf, MemoryWatch } from '../../testkit/memory-watch.ts';
import { sweepNow } from '../../testkit/photo-sweep.ts';
import { endProcess } from '../../testkit/running-processes.ts';
import { Staff } from '../../testkit/staff.ts';
import { type Key, Store } from '../../testkit/store.ts';
import { temporaryFolder } from '../../testkit/temporary-folder.ts';
import { grouped, none } from '../claims.ts';
import type { Claim, Proof, ProofContext } from '../proof.ts';
import { makeHostileImages } from './hostile-images.ts';
import { compareFiles } from './photo-files.ts';
import { openBucket, openDirectory, type PhotoPlace } from './photo-places.ts';

const perAnimal = 10;
/** As many as a client may send at once. */
const senders = 2;
const workers = 2;
/** For each process that decodes. */
const memoryMax = 300_000_000;
/** If nothing is processed for so long, nothing will be. A killed worker's photo is claimed again after 10 s. */
const stuckMs = 60_000;
const busyTimeoutMs = 30_000;
const secret = 'foster home of Biscuit';

export const photos: Proof = {
  name: 'photos',
  promise: 'no photo is lost or doubled when workers are killed, none shows where it was taken, and hostile images harm nothing',
  // The mutant never takes up the photos of killed workers.
  mutant: [
    {
      file: 'platform/db/claims.ts',
      from: '(claimed_until is null or claimed_until < now())',
      to: 'claimed_until is null',
    },
  ],
  isNightly: true,
  about: ['service/src/animals/photos', 'proofs/photos'],
  run,
};

async function run({ short, mutant, root, progress }: ProofContext): Promise<Claim[]> {
  const size = { count: short ? 12 : 1_000, kills: short ? 2 : 20, progress };
  const claims: Claim[] = [];
  // A bucket needs Ceph, which the short form does without.
  for (const open of short || mutant ? [openDirectory] : [openDirectory, openBucket]) {
    await using place = await open();
    using folder = open === openDirectory ? temporaryFolder('images') : undefined;
    const socket = folder ? { HOMEWARD_IMAGES_SOCKET: path.join(folder.path, 'images.sock') } : undefined;
    await using store = await Store.open({ processes: 1, root, env: { ...place.env, ...socket, LOG_LEVEL: 'warn' } });
    const images = socket && (await store.decode(socket.HOMEWARD_IMAGES_SOCKET));
    const { manager } = await castOf(store, 0);
    claims.push(...(await sendWhileKilling(store, manager, place, { ...size, images })));
    if (images && !mutant) claims.push(...(await sendHostile(store, manager, images, short ? 15 : 2_000, progress)));
  }
  return claims;
}

async function sendWhileKilling(
  store: Store,
  manager: Key,
  { name, files }: PhotoPlace,
  { count, kills, images, progress }: { count: number; kills: number; images: ChildProcess | undefined } & Pick<ProofContext, 'progress'>,
): Promise<Claim[]> {
  using http = new HttpClient(8);
  const animals = await addAnimals(store, manager, Math.ceil(count / perAnimal));
  const running = Array.from({ length: workers }, () => store.work());
  let done = 0;
  // Spread over the whole time: one kill for each part of the photos.
  const killing = (async () => {
    for (let kill = 1; kill <= kills; kill += 1) {
      while (done < (count * kill) / (kills + 1)) await sleep(5);
      await killOne(store, running, kill, images);
    }
  })();
  const rejected: Response[] = [];
  await inParallel(senders, count, async (i) => {
    const image = await makeImage(i);
    const petId = animals[i % animals.length] ?? 0;
    const response = await sendPhoto(http, store, manager, petId, image);
    // A caller that did not get the response sends the photo again.
    const again = i % 5 === 0 ? await sendPhoto(http, store, manager, petId, image) : response;
    if (response.status !== 202 || again.status !== 202) rejected.push(response);
    done += 1;
    progress(`${done} of ${count} photos sent`);
  });
  await killing;
  await untilProcessed(store, progress);
  const [rows] = await queryStore<{ all: number; ready: number; originals: number }>(
    store,
    `select count(*)::int as all, count(*) filter (where status = 'ready')::int as ready, count(distinct original_hash)::int as originals from photos`,
  );
  await Promise.all(running.map((worker) => endProcess(worker)));
  await sweep(store, files);
  const { broken, withoutRow, files: found, metadataBytes, withSecret } = await compareFiles(store, files, secret);
  const sent = grouped(count);
  return [
    {
      claim: `Photos in a ${name}: ready of ${sent} that were sent, a fifth of them twice, while ${kills} workers were killed`,
      bar: String(count),
      figure: `${rows?.ready} (${rejected.length} not accepted)`,
      holds: rows?.ready === count && rejected.length === 0,
    },
    {
      claim: `Photos in a ${name} that are there twice`,
      bar: '0',
      figure: String((rows?.all ?? 0) - (rows?.originals ?? 0)),
      holds: rows?.all === rows?.originals && rows?.all === count,
    },
    none(`Pictures of ready photos that are missing or damaged in a ${name}`, broken, { control: found > 0 }),
    none(`Files without a row in a ${name} after those are deleted, of ${found}`, withoutRow),
    {
      claim: `Bytes of EXIF, XMP or profiles in ${found} pictures, and pictures that contain the text of the original's metadata`,
      bar: '0, 0',
      figure: `${metadataBytes}, ${withSecret}`,
      holds: metadataBytes === 0 && withSecret === 0 && found > 0,
    },
  ];
}

async function sendHostile(
  store: Store,
  manager: Key,
  decoding: ChildProcess,
  fuzzed: number,
  progress: ProofContext['progress'],
): Promise<Claim[]> {
  using http = new HttpClient(8);
  const images = await makeHostileImages(fuzzed);
  const animals = await addAnimals(store, manager, Math.ceil(images.length / perAnimal));
  const running = Array.from({ length: workers }, () => store.work());
  // A valid photo first, so that everything that is loaded once is loaded.
  const [first = 0] = await addAnimals(store, manager, 1);
  await sendPhoto(http, store, manager, first, await makeImage(-1));
  await untilProcessed(store, progress);
  const serving = [decoding, ...store.processes.map(({ child }) => child)];
  using memory = new MemoryWatch([...serving, ...running].map(({ pid }) => pid ?? 0));
  let rejectedAtOnce = 0;
  const odd: string[] = [];
  await inParallel(senders, images.length, async (i) => {
    const { name, bytes } = images[i] ?? { name: '', bytes: Buffer.alloc(0) };
    const { status, text } = await sendPhoto(http, store, manager, animals[i % animals.length] ?? 0, bytes);
    if (status === 415) rejectedAtOnce += 1;
    else if (status !== 202) odd.push(`${name}: ${status} ${text}`);
    progress(`${i} of ${images.length} hostile images sent`);
  });
  await untilProcessed(store, progress);
  const [rows] = await queryStore<{ ready: number; failed: number; others: number }>(
    store,
    `select count(*) filter (where status = 'ready')::int as ready, count(*) filter (where status = 'failed' and failure is not null)::int as failed,
      count(*) filter (where status = 'processing')::int as others from photos where pet_id = any($1)`,
    [animals],
  );
  const ended = [...serving, ...running].filter(({ exitCode, signalCode }) => exitCode !== null || signalCode !== null).length;
  const growth = memory.growth;
  await Promise.all(running.map((worker) => endProcess(worker)));
  const { ready = 0, failed = 0, others = 0 } = rows ?? {};
  return [
    {
      claim: `Of ${grouped(images.length)} hostile images, those that got neither pictures nor a code`,
      bar: '0',
      figure: `${others + odd.length} (${rejectedAtOnce} rejected at once, ${failed} failed with a code, ${ready} are harmless pictures)${odd[0] ?? ''}`,
      holds: others === 0 && odd.length === 0 && rejectedAtOnce > 0 && failed > 0,
    },
    none('Processes of serve, worker and images that ended meanwhile', ended),
    {
      claim: `The highest growth of a process of serve or worker, or of images with the ${workers} that decode`,
      bar: `at most ${(workers * memoryMax) / 1e6} MB`,
      figure: `${Math.round(growth / 1e6)} MB`,
      holds: growth > 0 && growth <= workers * memoryMax,
    },
  ];
}

/** Each is another image, with a text and a place in its metadata. */
const makeImage = (i: number): Promise<Buffer> =>
  sharp({ create: { width: 640, height: 480, channels: 3, background: { r: i & 255, g: (i >> 8) & 255, b: 99 } } })
    .withExif({ IFD0: { Copyright: `${secret} ${i}` }, IFD3: { GPSLatitudeRef: 'N', GPSLatitude: '51/1 30/1 3230/100' } })
    .jpeg()
    .toBuffer();

const sendPhoto = (http: HttpClient, store: Store, { key }: Key, petId: number, raw: Buffer): Promise<Response> =>
  http.send(`${store.processes[0]?.url}/pets/${petId}/photos`, { method: 'POST', key, raw, headers: { 'content-type': 'image/jpeg' } });

/** Kills a worker while it processes a photo, without warning, and starts another. */
async function killOne(store: Store, running: ChildProcess[], kill: number, images: ChildProcess | undefined): Promise<void> {
  const index = await findBusy(running, kill, images);
  const worker = running[index];
  if (!worker) return;
  // At another moment of its work each time.
  await sleep((kill * 37) % 200);
  await endProcess(worker);
  running[index] = store.work();
}

/** The worker whose turn it is, or another, as soon as it has claimed a photo: then there is a process that makes its pictures. */
async function findBusy(running: readonly ChildProcess[], kill: number, images: ChildProcess | undefined): Promise<number> {
  const giveUpAtMs = performance.now() + busyTimeoutMs;
  const count = (child: ChildProcess | undefined) => childrenOf(child?.pid ?? 0).length;
  for (;;) {
    const turns = running.map((_, i) => (kill + i) % running.length);
    // `images` does not tell for whom it decodes: only if it does for all.
    const busy = images ? (count(images) === running.length ? turns[0] : undefined) : turns.find((i) => count(running[i]) > 0);
    if (busy !== undefined) return busy;
    if (performance.now() > giveUpAtMs) throw new Error('no worker processes a photo');
    await sleep(2);
  }
}

async function untilProcessed(store: Store, progress: ProofContext['progress']): Promise<void> {
  let last = { left: -1, atMs: performance.now() };
  for (;;) {
    const [row] = await queryStore<{ left: number }>(store, `select count(*)::int as left from photos where status = 'processing'`);
    const left = row?.left ?? 0;
    if (left !== last.left) last = { left, atMs: performance.now() };
    if (left === 0 || performance.now() - last.atMs > stuckMs) return;
    progress(`${left} photos are left to process`);
    await sleep(100);
  }
}

/** As after a day. */
async function sweep(store: Store, files: PhotoStore): Promise<void> {
  await using staff = await Staff.of(store);
  await sweepNow(staff.dependencies.db, files);
}
