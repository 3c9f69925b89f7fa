// A key is leaked: somebody else lists, orders, adds and follows the feed with it, and has set endpoints.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';
import { connectTo } from '../../testkit/postgres.ts';
import { accepts, freePort } from '../../testkit/servers.ts';
import { type Key, Store } from '../../testkit/store.ts';
import { temporaryFolder } from '../../testkit/temporary-folder.ts';
import { until } from '../../testkit/until.ts';
import { requirePrograms, run, startServer } from '../deploy/programs.ts';
import { TlsClient } from '../deploy/tls-client.ts';
import type { Claim, ProofContext } from '../proof.ts';
import { OperatorShell } from './operator-shell.ts';
import { checksClaim, commandsClaim, follow, type Procedure } from './procedure.ts';

export const leakedKey: Procedure = {
  file: 'docs/security.md',
  heading: '## A leaked key',
  mutant: { from: 'homeward keys revoke 12', to: 'homeward keys rotate 12 #' },
  run: leak,
};

const deploy = fileURLToPath(new URL('../../deploy', import.meta.url));
const attacker = '127.0.0.2';
const client = 'Shelter North';
const startTimeoutMs = 15_000;
const streamTimeoutMs = 5_000;

/** The ids of the page. */
const page = { client: 7, key: 12, endpoint: 31, pet: 44 } as const;

async function leak(commands: readonly string[], progress: ProofContext['progress']): Promise<Claim[]> {
  requirePrograms({ haproxy: 'haproxy', openssl: 'openssl', jq: 'jq', psql: 'postgresql-client' });
  await using resources = new AsyncDisposableStack();
  const { path: folder } = resources.use(temporaryFolder('leak'));
  const journal = path.join(folder, 'journal.log');
  progress('leaked-key: a store behind HAProxy');
  const env = { HOMEWARD_TRUSTED_PROXIES: '127.0.0.1', HOMEWARD_JOURNAL: journal };
  const store = resources.use(await Store.open({ processes: 2, env }));
  store.work();
  const proxy = await startProxy(resources, store);
  const { certificate, port } = proxy;
  const db = resources.use(await connectTo(store.postgres.url));

  const leaked = await makeClient(store, db);
  const bearer = { authorization: `Bearer ${leaked.key}` };
  const caller = resources.adopt(new TlsClient({ port, ca: certificate, from: attacker }), (one) => one[Symbol.dispose]());
  const send = (target: string, body?: object) =>
    caller.send(target, { headers: bearer, ...(body && { method: 'POST', body }) }).then(({ status, headers, text }) => ({
      status,
      id: String(headers['x-request-id']),
      json: JSON.parse(text || 'null') as { id?: number } | null,
    }));
  progress('leaked-key: somebody uses the key');
  const added = await send('/v1/pets', { name: 'Rex', categoryId: 99 });
  const ordered = await send('/v1/store/orders', { petId: page.pet, adopter: { name: 'Mallory', email: 'mallory@example.org' } });
  const listed = await send('/v1/store/orders');
  const stream = await caller.open('/v1/events', { accept: 'text/event-stream', ...bearer });
  const isUsed = added.status === 201 && added.json?.id === page.pet && ordered.status === 201 && listed.status === 200 && stream.isOpen;
  if (!isUsed) throw new Error(`the key could not be used: ${JSON.stringify([added, ordered, listed, stream.status])}`);
  await untilRecorded(db);

  using shell = new OperatorShell({
    ...env,
    DATABASE_URL: store.postgres.url,
    REDIS_URL: store.redis.url,
    PORT: new URL(store.processes[0]?.url ?? '').port,
  });
  const logFiles = () => {
    writeFileSync(path.join(shell.folder, 'homeward.log'), store.processes.map(({ log }) => log()).join(''));
    writeFileSync(path.join(shell.folder, 'proxy.log'), proxy.log());
  };
  const steps = await follow(shell, commands, (command) => {
    progress(`leaked-key: ${command}`);
    logFiles();
  });
  const outputOf = (start: string) => steps.filter(({ command }) => command.startsWith(start)).at(-1)?.output ?? '';
  for (const endMs = Date.now() + streamTimeoutMs; stream.isOpen && Date.now() < endMs; ) await sleep(20);
  const after = await send('/v1/pets');
  const newKey = /hw_\w+/.exec(outputOf('homeward keys create'))?.[0] ?? '';
  using partner = new TlsClient({ port, ca: certificate });
  const partnerStatus = (await partner.send('/v1/store/orders', { headers: { authorization: `Bearer ${newKey}` } })).status;
  const { rows } = await db.query<{ enabled: bigint; open: bigint; pets: bigint }>(
    `select (select count(*) from webhooks where client_id = $1 and status <> 'disabled') as enabled,
      (select count(*) from orders where client_id = $1 and status in ('placed', 'approved')) as open,
      (select count(*) from pets where id = $2 and removed_at is null) as pets`,
    [page.client, page.pet],
  );
  const journaled = readFileSync(journal, 'utf8');
  const ids = [added, ordered, listed].map(({ id }) => id);
  return [
    commandsClaim('leaked-key', steps),
    checksClaim('leaked-key: what the page promises, at its end', {
      'the key is 401': after.status === 401,
      'its stream has ended': !stream.isOpen,
      'no endpoint of the client is enabled': Number(rows[0]?.enabled) === 0,
      'no order is open': Number(rows[0]?.open) === 0,
      'the animal is removed': Number(rows[0]?.pets) === 0,
      'the new key works': partnerStatus === 200,
      "every request is found in both logs, with the attacker's address": ids.every(
        (id) => outputOf('jq -c').includes(id) && outputOf('grep').includes(id) && outputOf('grep').includes(attacker),
      ),
      'the history shows the animal and the order': outputOf('psql').includes(String(page.pet)),
      'the journal has the revocation': journaled.includes(`"act":"key_revoked","key":${page.key},`),
      'the list shows the key as revoked': /^12 .*revoked/m.test(outputOf('homeward keys list')),
    }),
  ];
}

/** The partner's own key and endpoint, the leaked key with an endpoint, and an endpoint from before keys were recorded. */
async function makeClient(store: Store, db: pg.Client): Promise<Key> {
  const starts = { clients: page.client, api_keys: page.key - 1, webhooks: page.endpoint, pets: page.pet };
  for (const [table, id] of Object.entries(starts)) await db.query(`alter sequence ${table}_id_seq restart with ${id}`);
  const own = await store.createKey(client, 'free');
  const leaked = await store.createKey(client, 'free');
  if (leaked.id !== page.key || leaked.clientId !== page.client) throw new Error(`the leaked key has the id ${leaked.id}`);
  const url = `${store.processes[0]?.url}/webhooks`;
  for (const { key } of [own, leaked, leaked]) {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ url: 'https://attacker.example/' }) });
    if (response.status !== 201) throw new Error(`an endpoint is ${response.status}: ${await response.text()}`);
  }
  await db.query(`update webhooks set status = 'enabled'`);
  await db.query('update webhooks set key_id = null where id = $1', [page.endpoint + 2]);
  return leaked;
}

async function startProxy(resources: AsyncDisposableStack, store: Store) {
  await run(path.join(deploy, 'compose/prepare'), []);
  const secrets = path.join(deploy, 'compose/secrets');
  const [port, ...apis] = [await freePort(), ...store.processes.map(({ url }) => new URL(url).host)];
  const proxy = resources.use(
    startServer('haproxy', ['-db', '-f', path.join(deploy, 'haproxy/haproxy.cfg')], {
      env: {
        HOMEWARD_BIND: `127.0.0.1:${port}`,
        HOMEWARD_CERTIFICATE: path.join(secrets, 'certificate.pem'),
        HOMEWARD_API_1: apis[0] ?? '',
        HOMEWARD_API_2: apis[1] ?? '',
      },
    }),
  );
  for (const deadlineMs = Date.now() + startTimeoutMs; !(await accepts(port)); await sleep(50))
    if (Date.now() > deadlineMs) throw new Error(`HAProxy did not start:\n${proxy.output()}`);
  return { port, certificate: readFileSync(path.join(secrets, 'certificate.crt')), log: proxy.output };
}

/** The worker records where the journal is: the commands of the page then need it. */
async function untilRecorded(db: pg.Client): Promise<void> {
  const isRecorded = async () => (await db.query('select from deployment where journal is not null')).rows.length > 0;
  await until('the worker has recorded the journal', isRecorded, { timeoutMs: startTimeoutMs });
}
