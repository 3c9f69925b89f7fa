// A store loses PostgreSQL's disk and its photos, and gets both back by the commands of docs/backup.md, run as they are written there.
import { execFile } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { AwsClient } from 'aws4fetch';
import sharp from 'sharp';
import type { PhotoStore } from '../../service/src/images/photo-store.ts';
import { addAnimals, castOf, queryStore } from '../../testkit/adopters.ts';
import { HttpClient } from '../../testkit/http.ts';
import { startRedis } from '../../testkit/servers.ts';
import { type Key, Store } from '../../testkit/store.ts';
import { untilArchived, untilPhotosAreMade } from '../../testkit/store-waits.ts';
import { temporaryFolder } from '../../testkit/temporary-folder.ts';
import { compareFiles } from '../photos/photo-files.ts';
import { openBucket, openDirectory, type PhotoPlace } from '../photos/photo-places.ts';
import type { Claim, Proof, ProofContext } from '../proof.ts';
import { RestorableServer } from './restored-server.ts';

const photosCount = 30;
const perAnimal = 10;
const commandTimeoutMs = 120_000;
const processedWithinMs = 180_000;
const secret = 'a place in the metadata';
const document = readFileSync('docs/backup.md', 'utf8');

export const restorePhotos: Proof = {
  name: 'restore-photos',
  promise: 'a store that loses its disks gets PostgreSQL and photos back by the commands of docs/backup.md: no photo without a file',
  isNightly: true,
  about: ['service/src/animals/photos', 'service/src/operations/recovery', 'docs/backup.md', 'proofs/restore'],
  run,
};

async function run({ short, progress }: ProofContext): Promise<Claim[]> {
  const claims: Claim[] = [];
  // A bucket needs Ceph, which the short form does without.
  for (const open of short ? [openDirectory] : [openDirectory, openBucket]) {
    await using place = await open();
    claims.push(...(await drill(place, progress)));
  }
  return claims;
}

async function drill(place: PhotoPlace, progress: ProofContext['progress']): Promise<Claim[]> {
  await using resources = new AsyncDisposableStack();
  const copy = await openCopy(place, resources);
  const server = resources.use(await RestorableServer.open('base backup', 2));
  const redis = resources.use(await startRedis());
  const open = (processes: number) =>
    Store.open({ processes, beside: { postgres: server.postgres, redis }, env: { LOG_LEVEL: 'warn', ...place.env } });
  const store = resources.use(await open(1));
  const { manager } = await castOf(store, 0);

  progress(`${place.name}: photos`);
  const worker = store.work();
  const animals = await addAnimals(store, manager, photosCount / perAnimal);
  await send(store, manager, animals, 0, photosCount);
  await untilPhotosAreMade(store, processedWithinMs);
  progress(`${place.name}: the backup`);
  await server.backUp();
  await copy.run(commandsOf('## Photos'));
  // Those wait for a worker: their originals are all that there is of them.
  await store.stopWorker(worker);
  const [waiting = 0] = await addAnimals(store, manager, 1);
  await send(store, manager, [waiting], photosCount, 3);
  await copy.run(commandsOf('## Photos'));
  await untilArchived(store, commandTimeoutMs, { switches: true });

  progress(`${place.name}: both are lost`);
  await store[Symbol.asyncDispose]();
  await server.loseDisk();
  const lost = await deleteAll(place.files, copy.emptyFolder);

  progress(`${place.name}: the restore`);
  await server.restore();
  const restored = resources.use(await open(0));
  await restored.homeward('restore-check', '--no-journal');
  await copy.run(commandsOf('**6. Put photos back**').filter((command) => !command.startsWith('homeward')));
  const checked = JSON.parse(await restored.homeward('photos', 'check', '--json')) as {
    mark: string;
    checked: number;
    withoutFile: unknown[];
  };
  await restored.serve();
  restored.work();
  await untilPhotosAreMade(restored, processedWithinMs);
  const { broken, files } = await compareFiles(restored, place.files, secret);
  const [ready] = await queryStore<{ count: number }>(restored, `select count(*)::int as count from photos where status = 'ready'`);
  const shown = await countShown(restored, manager, [...animals, waiting]);
  const all = photosCount + 3;
  return [
    {
      claim: `${place.name}: photos without a file after the restore; pictures that are missing or damaged, of ${files}`,
      bar: '0; 0',
      figure: `${checked.withoutFile.length} of ${checked.checked}; ${broken} (${lost} files were lost)`,
      holds:
        checked.withoutFile.length === 0 && checked.checked === photosCount && checked.mark === 'own' && broken === 0 && lost > photosCount,
    },
    {
      claim: `${place.name}: photos that are ready at the end, with three that waited for a worker; pictures that a browser gets`,
      bar: `${all}; all`,
      figure: `${ready?.count}; ${shown.ok} of ${shown.all}`,
      holds: ready?.count === all && shown.ok === shown.all && shown.all >= all,
    },
  ];
}

interface Copy {
  /** Runs commands of the document, with the places of this proof in them. */
  run(commands: readonly string[]): Promise<void>;
  /** Of a directory. */
  readonly emptyFolder: string | undefined;
}

async function openCopy(place: PhotoPlace, resources: AsyncDisposableStack): Promise<Copy> {
  const {
    HOMEWARD_PHOTOS = '',
    HOMEWARD_PHOTOS_S3_ENDPOINT: endpoint,
    HOMEWARD_PHOTOS_S3_KEY_ID: accessKeyId = '',
    HOMEWARD_PHOTOS_S3_SECRET: secretAccessKey = '',
  } = place.env;
  const { path: folder } = resources.use(temporaryFolder('copy'));
  if (endpoint) {
    const client = new AwsClient({ accessKeyId, secretAccessKey, region: 'us-east-1', service: 's3' });
    await client.fetch(`${endpoint}/photos-copy`, { method: 'PUT' });
  }
  const adapt = (command: string) =>
    endpoint
      ? command
          .replaceAll('s3://homeward-photos', 's3://photos')
          .replaceAll(/\baws /g, `aws --endpoint-url ${endpoint} --region us-east-1 `)
      : command.replaceAll('/var/lib/homeward-photos', HOMEWARD_PHOTOS).replaceAll('/backup/photos', path.join(folder, 'photos'));
  const env = { ...process.env, AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey };
  return {
    emptyFolder: endpoint ? undefined : HOMEWARD_PHOTOS,
    async run(commands) {
      const chosen = commands.filter((command) => command.includes(endpoint ? 'aws ' : 'rsync '));
      if (chosen.length === 0) throw new Error('the document has no command for this place');
      for (const command of chosen) await promisify(execFile)('sh', ['-c', adapt(command)], { env, timeout: commandTimeoutMs });
    },
  };
}

/** The commands of the blocks between this line of the document and the next heading or step. */
function commandsOf(start: string): string[] {
  const from = document.indexOf(start);
  if (from < 0) throw new Error(`docs/backup.md has no ${start}`);
  const rest = document.slice(from + start.length);
  const end = rest.search(/^(## |\*\*\d+\. )/m);
  const blocks = [...rest.slice(0, end).matchAll(/^```sh\n([\s\S]*?)^```$/gm)];
  return blocks.flatMap(([, block = '']) => block.trim().split('\n'));
}

/** As if the disk were a new one. Returns how many files are gone. */
async function deleteAll(files: PhotoStore, folder: string | undefined): Promise<number> {
  let count = 0;
  for (const part of ['originals', 'photos'] as const) {
    for await (const page of files.list(part)) {
      count += page.length;
      if (!folder) for (const name of page) await files.delete(name);
    }
  }
  if (folder) for (const part of ['originals', 'photos', 'homeward-store-id']) rmSync(path.join(folder, part), { recursive: true });
  else await files.delete('homeward-store-id');
  return count;
}

async function send(store: Store, { key }: Key, animals: readonly number[], from: number, count: number): Promise<void> {
  using http = new HttpClient();
  for (let i = from; i < from + count; i += 1) {
    const url = `${store.processes[0]?.url}/pets/${animals[i % animals.length]}/photos`;
    const { status, text } = await http.send(url, {
      method: 'POST',
      key,
      raw: await makeImage(i),
      headers: { 'content-type': 'image/jpeg' },
    });
    if (status !== 202) throw new Error(`a photo was not accepted: ${text}`);
  }
}

const makeImage = (i: number): Promise<Buffer> =>
  sharp({ create: { width: 640, height: 480, channels: 3, background: { r: i * 7, g: 255 - i * 7, b: 99 } } })
    .jpeg()
    .toBuffer();

/** What a browser gets of each picture. */
async function countShown(store: Store, { key }: Key, animals: readonly number[]): Promise<{ ok: number; all: number }> {
  using http = new HttpClient();
  const url = store.processes[0]?.url ?? '';
  let [ok, all] = [0, 0];
  for (const id of animals) {
    const { text } = await http.send(`${url}/pets/${id}/photos`, { key });
    for (const { urls } of JSON.parse(text) as Array<{ urls: ReadonlyArray<{ url: string }> }>) {
      for (const picture of urls) {
        all += 1;
        if ((await http.send(new URL(picture.url, url).href)).status === 200) ok += 1;
      }
    }
  }
  return { ok, all };
}
