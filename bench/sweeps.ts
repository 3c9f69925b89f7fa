// What deleting the files of photos costs: the weekly scan as a share of a core, and an hour's queue by what was removed:
// npm run bench -- sweeps [--files 1000000] [--removed 1000] [--json]
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { requireMark } from '../service/src/animals/photos/photo-mark.ts';
import { scanFiles } from '../service/src/animals/photos/photo-scan.ts';
import { deleteRemoved } from '../service/src/animals/photos/removed-files.ts';
import { DirectoryStore } from '../service/src/images/directory-store.ts';
import type { PhotoStore } from '../service/src/images/photo-store.ts';
import { migrate } from '../service/src/platform/db/migrate.ts';
import { Pool } from '../service/src/platform/db/pool.ts';
import { connectTo } from '../testkit/postgres.ts';
import { cpuMs, treeCpuMs } from '../testkit/process-cpu.ts';
import { startPostgres } from '../testkit/servers.ts';
import { temporaryFolder } from '../testkit/temporary-folder.ts';

const shareMax = 0.05;
const picturesOfPhoto = 3;
const connections = 4;

const { values } = parseArgs({
  options: {
    files: { type: 'string', default: '1000000' },
    removed: { type: 'string', default: '1000' },
    json: { type: 'boolean', default: false },
  },
});
const photos = Math.floor(Number(values.files) / picturesOfPhoto);
const removed = Number(values.removed);
if (!(photos > removed && removed > 0)) {
  console.error('Usage: npm run bench -- sweeps [--files 1000000] [--removed 1000] [--json]');
  process.exit(2);
}

await using server = await startPostgres({ settings: { shared_buffers: '256MB' } });
await migrate(server.url);
await using client = await connectTo(server.url);
using folder = temporaryFolder('sweeps');
const files = new DirectoryStore(folder.path);
const db = new Pool(server.url, connections, { byIndex: true });
await using opened = new AsyncDisposableStack();
opened.defer(() => db.close());
await requireMark(db, files);
say(`Writing ${photos * picturesOfPhoto} files, and their photos`);
await fill();

/** The CPU time of this process and of PostgreSQL. */
const spentMs = () => cpuMs(process.pid) + treeCpuMs(server.pid);
const queue = await measureQueue();
say(`The queue of ${removed} removals: ${queue.listed} files listed, ${queue.deletes} deleted, ${queue.cpuMs.toFixed(0)} ms of CPU time`);
const scan = await measureScan();
say(
  `The scan of ${scan.listed} files: ${scan.cpuMs.toFixed(0)} ms of CPU time in ${scan.seconds.toFixed(0)} s, ${(scan.share * 100).toFixed(1)}% of a core`,
);
if (values.json) console.log(JSON.stringify({ photos, removed, queue, scan }));
process.exitCode = queue.listed === 0 && queue.deletes === removed * picturesOfPhoto && scan.share <= shareMax ? 0 : 1;

async function fill(): Promise<void> {
  await client.query('set session_replication_role = replica');
  await client.query(
    `insert into photos (pet_id, client_id, position, status, original_hash, original_name, width, height, placeholder, files, pictures_bytes)
      select i, 1, 0, 'ready', encode(sha256(i::text::bytea), 'hex'), 'originals/' || i, 1, 1, '',
        (select jsonb_agg(jsonb_build_object('width', n, 'height', n, 'hash', encode(sha256((i || '-' || n)::bytea), 'hex')))
          from generate_series(1, $2::int) as n), 3
      from generate_series(1, $1::int) as i`,
    [photos, picturesOfPhoto],
  );
  await client.query('set session_replication_role = default');
  await client.query('vacuum (analyze) photos');
  const pageSize = 10_000;
  for (let after = 0; after < photos; after += pageSize) {
    const { rows } = await client.query<{ hash: string }>(
      `select file ->> 'hash' as hash from photos cross join jsonb_array_elements(files) as file where pet_id > $1 and pet_id <= $2`,
      [after, after + pageSize],
    );
    for (const { hash } of rows) {
      const parent = path.join(folder.path, 'photos', hash.slice(0, 2), hash.slice(2, 4));
      mkdirSync(parent, { recursive: true });
      writeFileSync(path.join(parent, `${hash}.webp`), 'x');
    }
  }
}

async function measureQueue() {
  await client.query('delete from photos where pet_id <= $1', [removed]);
  const { place, counts } = counting();
  const before = spentMs();
  while ((await deleteRemoved(db, place, -60)) > 0);
  return { ...counts, cpuMs: spentMs() - before };
}

async function measureScan() {
  await client.query('update photo_scan set due_at = now()');
  const { place, counts } = counting();
  const [before, startedAtMs] = [spentMs(), performance.now()];
  await scanFiles({ db, store: place, signal: new AbortController().signal });
  const [cpu, ms] = [spentMs() - before, performance.now() - startedAtMs];
  return { ...counts, cpuMs: cpu, seconds: ms / 1_000, share: cpu / ms };
}

function counting(): { place: PhotoStore; counts: { listed: number; deletes: number } } {
  const counts = { listed: 0, deletes: 0 };
  const place = new Proxy(files, {
    get: (target, name) => {
      if (name === 'list') {
        return async function* (...args: Parameters<PhotoStore['list']>) {
          for await (const page of target.list(...args)) {
            counts.listed += page.length;
            yield page;
          }
        };
      }
      if (name === 'delete') counts.deletes += 1;
      return Reflect.get(target, name).bind(target);
    },
  });
  return { place, counts };
}

function say(text: string): void {
  console.error(text);
}
