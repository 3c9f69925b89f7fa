// What each alert of a cause is for, done to a real store.
import { writeFileSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import path from 'node:path';
import { markName } from '../../service/src/images/photo-store.ts';
import { serveLocally } from '../../testkit/local-server.ts';
import { connectTo } from '../../testkit/postgres.ts';
import { makePhoto, type Photographer, photographerOf } from './photographer.ts';
import { photosMegabytes, type WatchedStore } from './watched-store.ts';

export interface Fault {
  readonly alert: string;
  /** For the table of results. */
  readonly name: string;
  /** Also in the short form. */
  readonly isQuick?: true;
  /** Alerts of symptoms that must be seen too. */
  readonly symptom?: 'HomewardErrors' | 'HomewardSlow';
  /** Causes the fault; it ends when the result is disposed. */
  cause(watched: WatchedStore): Promise<AsyncDisposable>;
}

const publisherLock = 4_663_958;
/** More than the pool has connections. */
const callers = 40;
const endpointsFailing = 3;
const dayMs = 86_400_000;
/** Enough to keep a process busy, and few enough that it still replies to Prometheus. */
const parsers = 8;

const undo = (end: () => Promise<void>): AsyncDisposable => ({ [Symbol.asyncDispose]: end });
const nothing = undo(async () => {});

export const faults: readonly Fault[] = [
  {
    alert: 'HomewardRedisDown',
    name: 'Redis killed',
    isQuick: true,
    async cause({ store }) {
      await store.redis.signal('SIGKILL');
      return undo(() => store.redis.start());
    },
  },
  {
    alert: 'HomewardWorkerDown',
    name: 'the worker stopped',
    isQuick: true,
    async cause(watched) {
      await watched.stopWorker();
      return undo(async () => watched.startWorker());
    },
  },
  {
    alert: 'HomewardConsoleDown',
    name: 'the console killed',
    isQuick: true,
    async cause(watched) {
      watched.killConsole();
      return undo(() => watched.startConsole());
    },
  },
  {
    alert: 'HomewardApiDown',
    name: 'every API process killed',
    async cause(watched) {
      watched.killApi();
      return undo(() => watched.startApi());
    },
  },
  {
    alert: 'HomewardProcessDown',
    name: 'one of four API processes killed',
    async cause(watched) {
      watched.killApi(1);
      return undo(() => watched.startApi(1));
    },
  },
  {
    alert: 'HomewardPostgresDown',
    name: 'PostgreSQL stopped',
    symptom: 'HomewardErrors',
    async cause({ store }) {
      await store.postgres.signal('SIGINT');
      return undo(() => store.postgres.start());
    },
  },
  {
    alert: 'HomewardRestarting',
    name: 'an API process that crashes three times',
    async cause(watched) {
      for (let crash = 0; crash < 3; crash += 1) {
        watched.killApi(1);
        await watched.startApi(1);
        await watched.waitFor(() => watched.allApisAreUp(), 5_000);
      }
      return nothing;
    },
  },
  {
    alert: 'HomewardPoolFull',
    name: 'animals that staff change are locked',
    symptom: 'HomewardSlow',
    async cause(watched) {
      const { store, http, url } = watched;
      // Orders wait without a connection.
      const { key } = await store.createKey('editor', { perMinute: 1e6, perDay: 1e8 }, '--scopes', 'pets:read,pets:write,store:manage');
      const ids: number[] = [];
      for (let i = 0; i < callers; i += 1) ids.push(await watched.addPet());
      const lock = await watched.session('begin', `select from pets where id in (${ids}) for update`);
      let calls = 0;
      return keepCalling(lock, callers, () =>
        http.send(`${url}/pets/${ids[calls++ % callers]}`, { method: 'PATCH', key, body: { name: 'Rex' } }),
      );
    },
  },
  {
    alert: 'HomewardWritesUnconfirmed',
    name: 'the synchronous standby is away',
    symptom: 'HomewardErrors',
    async cause(watched) {
      const setStandbys = (names: string) =>
        watched.session(
          'set synchronous_commit = local',
          `alter system set synchronous_standby_names = '${names}'`,
          'select pg_reload_conf()',
        );
      await using _ = await setStandbys('away');
      const { http, url, key } = watched;
      return keepCalling(
        undo(async () => {
          await using _ = await setStandbys('');
        }),
        1,
        () => http.send(`${url}/pets`, { method: 'POST', key: key.key, body: { name: 'Rex', categoryId: 1 } }),
      );
    },
  },
  {
    alert: 'HomewardEventsLate',
    name: 'publishing is blocked',
    cause: (watched) => watched.session(`select pg_advisory_lock(${publisherLock})`),
  },
  {
    alert: 'HomewardAnotherServer',
    name: 'a restored store',
    async cause(watched) {
      await using _ = await watched.session(`update deployment set server = 'another ' || server`);
      return undo(async () => {
        await using _ = await watched.session('update deployment set server = current_server()');
      });
    },
  },
  {
    alert: 'HomewardFailover',
    name: 'a standby takes over: PostgreSQL is promoted to a new timeline',
    async cause({ store: { postgres } }) {
      const folder = await queryOne(postgres.url, 'show data_directory');
      await postgres.signal('SIGINT');
      writeFileSync(path.join(folder, 'standby.signal'), '');
      await postgres.start();
      await queryOne(postgres.url, 'select pg_promote()');
      return nothing;
    },
  },
  {
    alert: 'HomewardJobFailing',
    name: 'a right that a job needs is revoked',
    async cause(watched) {
      await using _ = await watched.session('revoke update on orders from homeward_app', 'revoke select on orders from homeward_app');
      return undo(async () => {
        await using _ = await watched.session('grant select, update on orders to homeward_app');
      });
    },
  },
  {
    alert: 'HomewardWebhooksFailing',
    name: 'three endpoints that reject everything',
    async cause({ http, url, key: { key } }) {
      const receiver = await serveLocally((_, response) => response.writeHead(500).end());
      const ids: number[] = [];
      while (ids.length < endpointsFailing) {
        const body = { url: `${receiver.origin}/${ids.length}`, types: ['pet.created'] };
        const { status, text } = await http.send(`${url}/webhooks`, { method: 'POST', key, body });
        if (status !== 201) throw new Error(`no endpoint was added: ${text}`);
        ids.push((JSON.parse(text) as { id: number }).id);
      }
      return undo(async () => {
        for (const id of ids) await http.send(`${url}/webhooks/${id}`, { method: 'DELETE', key });
        await receiver[Symbol.asyncDispose]();
      });
    },
  },
  {
    alert: 'HomewardJournalFull',
    name: 'the disk of the journal is full; a key is revoked and a client suspended all the same',
    async cause({ store, disks: { journal } }) {
      journal.fill();
      const { id } = await store.createKey('leaked', 'free');
      await store.homeward('keys', 'revoke', String(id));
      await store.homeward('clients', 'suspend', 'leaked');
      return undo(async () => journal.empty());
    },
  },
  {
    alert: 'HomewardPhotoStorageFull',
    name: 'the disk of photos is full; uploads are 409, animals are added and listed',
    async cause(watched) {
      const photographer = await photographerOf(watched);
      await watched.disks.photos.resize(512);
      const { text } = await photographer.upload(await makePhoto());
      if (!text.includes('photo_storage_full')) throw new Error(`an upload to a full disk got ${text}`);
      return undo(() => watched.disks.photos.resize(photosMegabytes));
    },
  },
  {
    alert: 'HomewardDiskFilling',
    name: 'the disk of the journal has 12% left',
    async cause({ disks: { journal } }) {
      journal.fillTo(0.12);
      return undo(async () => journal.empty());
    },
  },
  {
    alert: 'HomewardPostgresDiskFilling',
    name: 'a disk of the machine of PostgreSQL has 10% left',
    async cause({ disks: { postgres } }) {
      postgres.fillTo(0.1);
      return undo(async () => postgres.empty());
    },
  },
  {
    alert: 'HomewardPostgresDiskFull',
    name: 'a disk of the machine of PostgreSQL has 2% left',
    async cause({ disks: { postgres } }) {
      postgres.fillTo(0.02);
      return undo(async () => postgres.empty());
    },
  },
  {
    alert: 'HomewardArchiveFailing',
    name: 'archive_command fails',
    async cause(watched) {
      await watched.setArchiveCommand('false');
      await using _ = await watched.session('select pg_switch_wal()');
      return undo(() => watched.setArchiveCommand('true'));
    },
  },
  {
    alert: 'HomewardBackupOld',
    name: 'the last backup was made two days ago',
    async cause(watched) {
      watched.setBackupTime(new Date(Date.now() - 2 * dayMs));
      return undo(async () => watched.setBackupTime());
    },
  },
  // Faults of certificates restart the worker twice, so others are between them: HomewardRestarting is about three times.
  {
    alert: 'HomewardCertificateNotRenewed',
    name: 'a certificate for ten days',
    async cause(watched) {
      await watched.setCertificate(10);
      return undo(() => watched.setCertificate());
    },
  },
  {
    alert: 'HomewardPhotosGone',
    name: 'the directory of photos lacks the mark of the store',
    async cause({ disks: { photos } }) {
      const [mark, away] = [path.join(photos.folder, markName), path.join(photos.folder, 'away')];
      await rename(mark, away);
      return undo(() => rename(away, mark));
    },
  },
  {
    alert: 'HomewardOriginalsMissing',
    name: 'a photo whose original is missing for two days',
    async cause(watched) {
      const photographer = await photographerOf(watched);
      await watched.whileWorkerRests(async () => {
        await upload(photographer, 202);
        await using _ = await watched.session(
          `update photos set original_missing_since = now() - interval '2 days', claimed_until = now() + interval '1 hour' where status = 'processing'`,
        );
      });
      return undo(async () => {
        await using _ = await watched.session(
          `update photos set original_missing_since = null, claimed_until = null where status = 'processing'`,
        );
      });
    },
  },
  {
    alert: 'HomewardUploadsFailing',
    name: 'uploads of photos of an animal that is locked',
    async cause(watched) {
      const photographer = await photographerOf(watched);
      const photo = await makePhoto();
      const lock = await watched.session('begin', `select from pets where id = ${photographer.petId} for update`);
      return keepCalling(lock, 1, () => photographer.upload(photo));
    },
  },
  {
    alert: 'HomewardCertificateExpiresSoon',
    name: 'a certificate for a day',
    async cause(watched) {
      await watched.setCertificate(1);
      return undo(() => watched.setCertificate());
    },
  },
  {
    alert: 'HomewardEventLoopBusy',
    name: 'more requests with large bodies than a process can parse',
    async cause({ http, url, key: { key } }) {
      const raw = JSON.stringify({ name: 'Biscuit', categoryId: 2, notes: Array.from({ length: 10_000 }, (_, i) => [i]) });
      return keepCalling(nothing, parsers, () => http.send(`${url}/pets`, { method: 'POST', key, raw }));
    },
  },
  {
    alert: 'HomewardMailLate',
    name: 'a message that no worker can claim',
    async cause(watched) {
      await using _ = await watched.session(
        `insert into mail (kind, subject_id, is_single, due_at, waiting_since) values ('of a later release', 1, false, now(), now())`,
      );
      return undo(async () => {
        await using _ = await watched.session('delete from mail');
      });
    },
  },
  {
    alert: 'HomewardPhotosLate',
    name: 'a photo that no worker can claim',
    async cause(watched) {
      const photographer = await photographerOf(watched);
      let lock: AsyncDisposable = nothing;
      await watched.whileWorkerRests(async () => {
        await upload(photographer, 202);
        lock = await watched.session('begin', `select from photos where status = 'processing' for update`);
      });
      return lock;
    },
  },
];

async function upload(photographer: Photographer, wanted: number): Promise<void> {
  const { status, text } = await photographer.upload(await makePhoto());
  if (status !== wanted) throw new Error(`an upload got ${status}: ${text}`);
}

/** The first column of the first row. */
async function queryOne(url: string, statement: string): Promise<string> {
  await using client = await connectTo(url);
  const { rows } = await client.query<[unknown]>({ text: statement, rowMode: 'array' });
  return String(rows[0]?.[0]);
}

/** Sends one request after another, from several callers, until it is disposed. */
function keepCalling(before: AsyncDisposable, count: number, send: () => Promise<unknown>): AsyncDisposable {
  let ended = false;
  const call = async () => {
    while (!ended) await send().catch(() => {});
  };
  const calls = Array.from({ length: count }, call);
  return undo(async () => {
    ended = true;
    await before[Symbol.asyncDispose]();
    await Promise.all(calls);
  });
}
