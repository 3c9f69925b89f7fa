// What each alert of a cause is for, done to a real store.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
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
    alert: 'HomewardApiDown',
    name: 'one of two API processes killed',
    async cause(watched) {
      watched.killSecond();
      return undo(() => watched.restartSecond());
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
        watched.killSecond();
        await watched.restartSecond();
        await watched.waitFor(async () => (await watched.prometheus.query('sum(up) == 3')).length > 0, 5_000);
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
      for (let i = 0; i < callers; i += 1) ids.push((JSON.parse((await watched.add(1)).text) as { id: number }).id);
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
    name: 'an endpoint that rejects everything',
    async cause({ http, url, key: { key } }) {
      const receiver = createServer((request, response) => {
        request.resume();
        response.writeHead(500).end();
      });
      await once(receiver.listen(0, '127.0.0.1'), 'listening');
      const { port } = receiver.address() as AddressInfo;
      const body = { url: `http://127.0.0.1:${port}/`, types: ['pet.created'] };
      const { status, text } = await http.send(`${url}/webhooks`, { method: 'POST', key, body });
      if (status !== 201) throw new Error(`no endpoint was added: ${text}`);
      const { id } = JSON.parse(text) as { id: number };
      return undo(async () => {
        await http.send(`${url}/webhooks/${id}`, { method: 'DELETE', key });
        receiver.closeAllConnections();
        receiver.close();
      });
    },
  },
  {
    alert: 'HomewardJournalFull',
    name: 'the disk of the journal is full; a key is revoked and a client suspended all the same',
    async cause({ store, journalDisk }) {
      journalDisk.fill();
      const { id } = await store.createKey('leaked', 'free');
      await store.homeward('keys', 'revoke', String(id));
      await store.homeward('clients', 'suspend', 'leaked');
      return undo(async () => journalDisk.empty());
    },
  },
  {
    alert: 'HomewardPhotoStorageFull',
    name: 'the disk of photos is full; uploads are 409, animals are added and listed',
    async cause({ store, photosDisk, http, url }) {
      const { key } = await store.createKey('staff', 'pro', '--scopes', 'pets:read,pets:write,store:manage');
      await photosDisk.resize(512);
      const body = { name: 'Biscuit', categoryId: 1 };
      const { id } = JSON.parse((await http.send(`${url}/pets`, { method: 'POST', key, body })).text) as { id: number };
      const headers = { 'content-type': 'image/jpeg' };
      const { text } = await http.send(`${url}/pets/${id}/photos`, { method: 'POST', key, raw: 'photo', headers });
      if (!text.includes('photo_storage_full')) throw new Error(`an upload to a full disk got ${text}`);
      return undo(() => photosDisk.resize(photosMegabytes));
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
];

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
