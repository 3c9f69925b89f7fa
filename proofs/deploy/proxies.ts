// HAProxy and nginx with the files of deploy/, in front of a store of two processes and its console.
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { photosMax } from '../../service/src/animals/photos/photo-schemas.ts';
import { photoBytesMax } from '../../service/src/images/image-types.ts';
import { accepts, freePort } from '../../testkit/servers.ts';
import { type Key, type ServeProcess, Store } from '../../testkit/store.ts';
import { temporaryFolder } from '../../testkit/temporary-folder.ts';
import type { Claim } from '../proof.ts';
import { firstPageClaim } from './first-claim.ts';
import { requirePrograms, run, startServer } from './programs.ts';
import { openConnections, TlsClient, type TlsOptions } from './tls-client.ts';

const startTimeoutMs = 15_000;
/** Debian's package libnginx-mod-stream; other builds of nginx have it inside. */
const streamModule = '/usr/lib/nginx/modules/ngx_stream_module.so';
const eventTimeoutMs = 10_000;
/** More than two windows' worth of requests without a key: whenever they begin, one window gets more than its 60. */
const anonymousCount = 130;
const afterLossCount = 40;
const outputMs = 100;
const spreadCount = 80;
const spreadMin = 20;
/** More than nginx accepts. */
const rejectedBytes = 2_200_000;
/** As much as a form of the console may have. */
const photosBytes = photosMax * photoBytesMax;
/** Of one address, and how many of them the proxies accept. */
const connectionCount = 300;
const connectionsMax = 256;
/** For which the certificate of deploy/compose/prepare is valid too. */
const consoleName = 'console.localhost';

interface Backend {
  /** Of the two processes of the store. */
  readonly ports: readonly [number, number];
  readonly consolePort: number;
  readonly folder: string;
  readonly deploy: string;
  readonly certificate: string;
}

interface Proxy {
  readonly name: string;
  /** Four addresses that no other proxy's callers have. */
  readonly callers: readonly [string, string, string, string];
  /** `log` returns the lines of requests. */
  start(backend: Backend, port: number): Promise<AsyncDisposable & { output(): string; log(): string }>;
}

const haproxy: Proxy = {
  name: 'HAProxy',
  callers: ['127.0.0.2', '127.0.0.3', '127.0.0.6', '127.0.0.8'],
  async start(backend, port) {
    const server = startHaproxy(haproxyFile(backend), backend, port);
    return { ...server, log: server.output };
  },
};

const haproxyFile = ({ deploy }: Backend) => path.join(deploy, 'haproxy/haproxy.cfg');

const startHaproxy = (file: string, { certificate, ports, consolePort }: Backend, port: number) =>
  startServer('haproxy', ['-db', '-f', file], {
    env: {
      HOMEWARD_BIND: `127.0.0.1:${port}`,
      HOMEWARD_CERTIFICATE: certificate,
      HOMEWARD_API_1: `127.0.0.1:${ports[0]}`,
      HOMEWARD_API_2: `127.0.0.1:${ports[1]}`,
      HOMEWARD_CONSOLE: `127.0.0.1:${consolePort}`,
      HOMEWARD_CONSOLE_URL: `https://${consoleName}:${port}`,
    },
  });

const nginx: Proxy = {
  name: 'nginx',
  callers: ['127.0.0.4', '127.0.0.5', '127.0.0.7', '127.0.0.9'],
  async start({ deploy, certificate, folder, ports, consolePort }, port) {
    const log = path.join(folder, 'nginx-requests.log');
    const inner = await freePort();
    const edits: ReadonlyArray<readonly [string, string]> = [
      ['listen 127.0.0.1:8443 ', `listen 127.0.0.1:${inner} `],
      ['/var/log/nginx/homeward.log', log],
      ['server 127.0.0.1:8081 ', `server 127.0.0.1:${ports[0]} `],
      ['server 127.0.0.1:8082 ', `server 127.0.0.1:${ports[1]} `],
      ['server 127.0.0.1:8090;', `server 127.0.0.1:${consolePort};`],
      ['server_name console.example.org;', `server_name ${consoleName};`],
      ['/etc/nginx/homeward.crt', certificate],
      ['/etc/nginx/homeward.key', certificate],
    ];
    const edited = (name: string, changes: typeof edits) =>
      changes.reduce((text, [from, to]) => replaceKnown(text, from, to), readFileSync(path.join(deploy, 'nginx', name), 'utf8'));
    const own = edited('homeward.conf', edits);
    const connections = edited('homeward-connections.conf', [
      ['listen 443;', `listen 127.0.0.1:${port};`],
      ['proxy_pass 127.0.0.1:8443;', `proxy_pass 127.0.0.1:${inner};`],
    ]);
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((what) => `${what}_temp_path ${folder}/nginx-${what};`);
    const modules = `${existsSync(streamModule) ? `load_module ${streamModule};` : ''} worker_rlimit_nofile 16384;`;
    const main = `${modules} daemon off; pid ${folder}/nginx.pid; error_log stderr warn; events { worker_connections 8192; }
      http { access_log off; ${temporary.join(' ')}\n${own} }\n${connections}`;
    const file = path.join(folder, 'nginx.conf');
    writeFileSync(file, main);
    return { ...startServer('nginx', ['-c', file, '-p', folder, '-e', 'stderr']), log: () => readFileSync(log, 'utf8') };
  },
};

/** `streamSeconds`: how long a stream must stay open. */
export async function proxyClaims(deploy: string, streamSeconds: number, progress: (text: string) => void): Promise<Claim[]> {
  requirePrograms({ haproxy: 'haproxy', nginx: 'nginx', openssl: 'openssl' });
  using temporary = temporaryFolder('proxies');
  const folder = temporary.path;
  await run(path.join(deploy, 'compose/prepare'), []);
  const certificate = path.join(deploy, 'compose/secrets/certificate.pem');
  await using store = await Store.open({ processes: 1, env: { HOMEWARD_TRUSTED_PROXIES: '127.0.0.1', LOG_LEVEL: 'warn' } });
  store.work();
  const key = await store.createKey('behind a proxy', { perMinute: 100_000, perDay: 100_000 });
  const claims: Claim[] = [];
  for (const proxy of [haproxy, nginx]) {
    progress(`TLS by ${proxy.name}`);
    // The second process is killed in the end.
    const second = await store.serve();
    const ports = [portOf(store.processes[0]), portOf(second)] as const;
    const consoleStartedAtMs = performance.now();
    const consolePort = portOf(await store.openConsole({ HOMEWARD_CONSOLE_URL: `https://${consoleName}` }));
    const trial = { key, second, streamSeconds, consoleStartedAtMs };
    const backend = { ports, consolePort, folder, deploy, certificate };
    if (proxy === haproxy) claims.push(await spreadClaim(backend, key));
    claims.push(...(await tryProxy(proxy, backend, trial)));
  }
  return claims;
}

const portOf = (serve: ServeProcess | undefined) => Number(new URL(serve?.url ?? '').port);

interface Trial {
  readonly key: Key;
  readonly second: ServeProcess;
  readonly streamSeconds: number;
  readonly consoleStartedAtMs: number;
}

async function tryProxy(proxy: Proxy, backend: Backend, { key, second, streamSeconds, consoleStartedAtMs }: Trial): Promise<Claim[]> {
  const port = await freePort();
  await using server = await proxy.start(backend, port);
  await untilAccepted(proxy.name, port, server);
  const options = tlsOptions(backend, port);
  return [
    ...(await consoleClaims(proxy, options, consoleStartedAtMs, server)),
    await requestClaim(proxy, options, key),
    await addressClaim(proxy, options),
    await connectionClaim(proxy, options, key),
    await logClaim(proxy, options, key, server.log),
    await streamClaim(proxy, options, key, streamSeconds),
    await lossClaim(proxy, second, options, key),
    await pageClaim(proxy, options, server),
  ];
}

async function untilAccepted(name: string, port: number, server: { output(): string }): Promise<void> {
  for (const deadlineMs = Date.now() + startTimeoutMs; !(await accepts(port)); await sleep(50))
    if (Date.now() > deadlineMs) throw new Error(`${name} did not start:\n${server.output()}`);
}

const tlsOptions = ({ deploy }: Backend, port: number): TlsOptions => ({
  port,
  ca: readFileSync(path.join(deploy, 'compose/secrets/certificate.crt')),
});

/** As the comment in the file says for many processes: which one is asked depends on the URL, and a list is mostly its query. */
async function spreadClaim(backend: Backend, key: Key): Promise<Claim> {
  const shipped = readFileSync(haproxyFile(backend), 'utf8');
  const [, balance = '', hashType = ''] = /`(balance [^`]+)` and `(hash-type [^`]+)`/.exec(shipped) ?? [];
  const file = path.join(backend.folder, 'haproxy-by-url.cfg');
  writeFileSync(file, replaceKnown(shipped, '\n  balance leastconn\n', `\n  ${balance}\n  ${hashType}\n`));
  const port = await freePort();
  await using server = startHaproxy(file, backend, port);
  await untilAccepted(haproxy.name, port, server);
  using client = new TlsClient(tlsOptions(backend, port));
  const lists = Array.from({ length: spreadCount }, (_, i) => `/v1/pets?limit=${i + 1}`);
  for (const list of [...lists, ...lists]) await client.send(list, { headers: bearer(key) });
  const lines = () => [...server.output().matchAll(/ api\/(api-\d) .*(\/v1\/pets\?limit=\d+)/g)];
  for (const deadlineMs = Date.now() + eventTimeoutMs; lines().length < 2 * spreadCount && Date.now() < deadlineMs; ) await sleep(50);
  const serversOf = (list: string) => new Set(lines().flatMap(([, name = '', url]) => (url === list ? [name] : [])));
  const counts = ['api-1', 'api-2'].map((name) => lists.filter((list) => serversOf(list).has(name)).length);
  const moved = lists.filter((list) => serversOf(list).size !== 1).length;
  return {
    claim: `HAProxy with \`${balance}\`: ${spreadCount} lists that differ in their query, by two processes; lists that another process gets the second time`,
    bar: `at least ${spreadMin} each; 0`,
    figure: `${counts.join(' and ')}; ${moved}`,
    holds: counts.every((count) => count >= spreadMin) && moved === 0,
  };
}

const bearer = ({ key }: Key) => ({ authorization: `Bearer ${key}` });

async function requestClaim({ name }: Proxy, options: TlsOptions, key: Key): Promise<Claim> {
  using client = new TlsClient(options);
  const list = await client.send('/v1/pets', { headers: bearer(key) });
  const health = await client.send('/readyz');
  const hsts = String(list.headers['strict-transport-security']);
  return {
    claim: `${name}: a list over HTTP/2 and TLS, and health, which is not for callers`,
    bar: '200 with Strict-Transport-Security; 404',
    figure: `${list.status} with ${hsts}; ${health.status}`,
    holds: list.status === 200 && hsts === 'max-age=31536000' && health.status === 404,
  };
}

/** Requests without a key are counted by address: 60 a minute. A caller can't evade that by naming other addresses. */
async function addressClaim({ name, callers }: Proxy, options: TlsOptions): Promise<Claim> {
  using caller = new TlsClient({ ...options, from: callers[0] });
  using other = new TlsClient({ ...options, from: callers[1] });
  const statuses: number[] = [];
  for (let i = 0; i < anonymousCount; i += 1) {
    const headers = { 'x-forwarded-for': `192.0.2.${i}`, forwarded: `for=192.0.2.${i}` };
    statuses.push((await caller.send('/v1/pets', { headers })).status);
  }
  const limited = statuses.filter((status) => status === 429).length;
  const { status } = await other.send('/v1/pets');
  return {
    claim: `${name}: the address that counts is the caller's, whatever its X-Forwarded-For says`,
    bar: `429 among ${anonymousCount} requests of one address, 401 for another`,
    figure: `${limited} of them 429; ${status}`,
    holds: limited > 0 && statuses.every((one) => one === 401 || one === 429) && status === 401,
  };
}

/** Connections are limited by address, before TLS, and requests are not: one connection may send more than there may be connections. */
async function connectionClaim({ name, callers }: Proxy, options: TlsOptions, key: Key): Promise<Claim> {
  await using crowd = await openConnections({ ...options, from: callers[2] }, connectionCount);
  const { accepted, closedUnread } = crowd;
  using other = new TlsClient({ ...options, from: callers[1] });
  const elsewhere = await other.send('/v1/pets', { headers: bearer(key) });
  const requests = await Promise.all(Array.from({ length: connectionCount }, () => other.send('/v1/pets', { headers: bearer(key) })));
  const served = requests.filter(({ status }) => status === 200).length;
  return {
    claim: `${name}: ${connectionCount} connections of one address; of another, a request meanwhile, and then ${connectionCount} at once on one connection`,
    bar: `${connectionsMax} accepted, the others closed before TLS; 200; all 200`,
    figure: `${accepted} accepted, ${closedUnread} closed before TLS; ${elsewhere.status}; ${served} of them 200`,
    holds:
      accepted === connectionsMax &&
      closedUnread === connectionCount - connectionsMax &&
      elsewhere.status === 200 &&
      served === connectionCount,
  };
}

/** The leaked-key playbook joins both logs by the id: the proxy has the address, the service has the key. */
async function logClaim({ name, callers }: Proxy, options: TlsOptions, key: Key, log: () => string): Promise<Claim> {
  using client = new TlsClient({ ...options, from: callers[1] });
  const { headers } = await client.send('/v1/pets?limit=7', { headers: bearer(key) });
  const id = String(headers['x-request-id']);
  const find = () =>
    log()
      .split('\n')
      .filter((line) => line.includes(id));
  for (const deadlineMs = Date.now() + eventTimeoutMs; find().length === 0 && Date.now() < deadlineMs; ) await sleep(50);
  const [line = ''] = find();
  const holds = /^req_[\w-]+$/.test(id) && find().length === 1 && line.includes(callers[1]) && !log().includes(key.key);
  return {
    claim: `${name}: the line of a request in its log has the id of the response and the caller's address; the key is nowhere in the log`,
    bar: '1 line with both; 0 keys',
    figure: `${find().length} lines${line.includes(callers[1]) ? ' with both' : ''}; ${log().split(key.key).length - 1} keys`,
    holds,
  };
}

async function streamClaim({ name }: Proxy, options: TlsOptions, key: Key, seconds: number): Promise<Claim> {
  using client = new TlsClient(options);
  const animal = `Biscuit behind ${name}`;
  const stream = await client.open('/v1/events', { accept: 'text/event-stream', ...bearer(key) });
  const openedAtMs = performance.now();
  await sleep(seconds * 1_000);
  const added = await client.send('/v1/pets', { method: 'POST', headers: bearer(key), body: { name: animal, categoryId: 1 } });
  const sentAtMs = performance.now();
  while (!stream.text().includes(animal) && performance.now() < sentAtMs + eventTimeoutMs) await sleep(10);
  const afterMs = performance.now() - sentAtMs;
  return {
    claim: `${name}: a stream of events stays open for ${seconds} s, and then an event arrives`,
    bar: 'at once, not when a buffer is full',
    figure: `${stream.status}, ${added.status}; ${stream.isOpen ? 'open' : 'closed'} after ${((performance.now() - openedAtMs) / 1_000).toFixed(1)} s, the event after ${afterMs.toFixed(0)} ms`,
    holds: stream.status === 200 && added.status === 201 && stream.isOpen && stream.text().includes(animal),
  };
}

/** One of the two processes is killed. */
async function lossClaim({ name }: Proxy, second: ServeProcess, options: TlsOptions, key: Key): Promise<Claim> {
  using client = new TlsClient(options);
  second.child.kill('SIGKILL');
  const statuses: number[] = [];
  for (let i = 0; i < afterLossCount; i += 1) statuses.push((await client.send('/v1/pets', { headers: bearer(key) })).status);
  const failed = statuses.filter((status) => status !== 200);
  return {
    claim: `${name}: ${afterLossCount} lists after one of two processes was killed`,
    bar: 'all 200',
    figure: failed.length === 0 ? 'all 200' : `${failed.length} failed: ${[...new Set(failed)].join(', ')}`,
    holds: failed.length === 0,
  };
}

/** Anyone who has the path of an adopter's page sees the page. Also of a request that the proxy itself rejects, which nginx logs as an error. */
async function pageClaim({ name, callers }: Proxy, options: TlsOptions, server: { output(): string; log(): string }): Promise<Claim> {
  using client = new TlsClient({ ...options, from: callers[1] });
  const token = randomBytes(20).toString('hex');
  const encoded = token.replace(/./g, (digit) => `%${digit.charCodeAt(0).toString(16)}`);
  const paths = [`/a/${token}`, `/a/${token}/erase?from=mail`, `/A/${token}`, `//a/${token}`, `/%61/${encoded}`, `/x/../a/${token}`];
  for (const at of paths) await client.send(at);
  // The response may come before the body has arrived.
  await client.send(`/a/${token}/erase`, { method: 'POST', body: { text: 'x'.repeat(rejectedBytes) } }).catch(() => {});
  const linesOf = () => server.log().match(/ \/a\/\.\.\. /g)?.length ?? 0;
  for (const deadlineMs = Date.now() + eventTimeoutMs; linesOf() <= paths.length && Date.now() < deadlineMs; ) await sleep(50);
  // What it has written of errors may still be on its way.
  await sleep(outputMs);
  const all = server.log() + server.output();
  // A part of it would make the rest easy to guess.
  const leaks = [token.slice(5, 17), encoded.slice(30, 60)].filter((part) => all.includes(part));
  return {
    claim: `${name}: requests for a page of an adopter, in ${paths.length} spellings and with too large a body, in its log`,
    bar: 'a line for each, none with the path',
    figure: `${linesOf()} lines; ${leaks.length > 0 ? 'the path is there' : 'none with the path'}`,
    holds: linesOf() === paths.length + 1 && leaks.length === 0,
  };
}

/** By its host name, and by no other. Anyone who has a link or an invitation can sign in with it. */
async function consoleClaims(
  { name, callers }: Proxy,
  options: TlsOptions,
  startedAtMs: number,
  server: { output(): string; log(): string },
): Promise<Claim[]> {
  using client = new TlsClient({ ...options, name: consoleName, from: callers[3] });
  using api = new TlsClient({ ...options, from: callers[1] });
  const readPage = () => client.send('/sign-in').catch(() => undefined);
  let first = await readPage();
  // HAProxy sends to it when it has seen that it is ready.
  for (const deadlineMs = Date.now() + startTimeoutMs; first?.status !== 200 && Date.now() < deadlineMs; first = await readPage())
    await sleep(50);
  const seconds = (performance.now() - startedAtMs) / 1_000;
  const hsts = String(first?.headers['strict-transport-security']);
  const health = await client.send('/readyz');
  const elsewhere = [await client.send('/v1/pets'), await api.send('/sign-in')].map(({ status }) => status);
  const token = randomBytes(32).toString('base64url');
  const encoded = [...token].map((digit) => `%${digit.charCodeAt(0).toString(16)}`).join('');
  const paths = [
    `/link/${token}`,
    `/invitation/${token}?x=1`,
    `/link/new-role/${token}`,
    `/LINK/${token}`,
    `//link/${token}`,
    `/%6cink/${encoded}`,
  ];
  for (const at of paths) await client.send(at);
  await client.send(`/people?after=${token}`);
  // On a connection of its own, which may end with it.
  using sender = new TlsClient({ ...options, name: consoleName, from: callers[1] });
  await sender.send(`/link/${token}`, { method: 'POST', body: { text: 'x'.repeat(rejectedBytes) } }).catch(() => {});
  const linesOf = () => server.log().match(/ \/link\/\.\.\. /g)?.length ?? 0;
  for (const deadlineMs = Date.now() + eventTimeoutMs; linesOf() <= paths.length && Date.now() < deadlineMs; ) await sleep(50);
  await sleep(outputMs);
  const all = server.log() + server.output();
  const leaks = [token.slice(5, 17), encoded.slice(30, 60)].filter((part) => all.includes(part));
  using other = new TlsClient({ ...options, name: consoleName, from: callers[1] });
  // Who is not signed in is told so, before the photos are sent.
  const type = 'multipart/form-data; boundary=photos';
  const length = String(photosBytes);
  const photos = await other.open('/animals/1/photos', { ':method': 'POST', 'content-type': type, 'content-length': length });
  const statuses: number[] = [];
  for (let i = 0; i < anonymousCount; i += 1)
    statuses.push((await client.send('/sign-in', { headers: { 'x-forwarded-for': `192.0.2.${i}` } })).status);
  const limited = statuses.filter((status) => status === 429).length;
  const neighbour = await other.send('/sign-in');
  return [
    firstPageClaim(name, first?.status ?? 0, seconds),
    {
      claim: `${name}: the console at its host name: TLS, health, which is not for callers, and the API; the console at the name of the API`,
      bar: 'Strict-Transport-Security once; 404; 303 to its sign-in; 404',
      figure: `${hsts}; ${health.status}; ${elsewhere.join('; ')}`,
      holds: hsts === 'max-age=31536000' && health.status === 404 && elsewhere.join() === '303,404',
    },
    {
      claim: `${name}: links and invitations of the console, in ${paths.length} spellings and with too large a body, and its queries, in the log`,
      bar: 'a line for each link, none with the token or the query',
      figure: `${linesOf()} lines; ${leaks.length > 0 ? 'the token is there' : 'none with the token'}`,
      holds: linesOf() === paths.length + 1 && leaks.length === 0,
    },
    {
      claim: `${name}: a form of ${photosMax} photos with ${photosBytes / 1e6} MB for the console, of somebody who is not signed in`,
      bar: '401, of the console',
      figure: String(photos.status),
      holds: photos.status === 401,
    },
    {
      claim: `${name}: the address that counts at the sign-in of the console is the caller's, whatever its X-Forwarded-For says`,
      bar: `429 among ${anonymousCount} requests of one address, 200 for another`,
      figure: `${limited} of them 429; ${neighbour.status}`,
      holds: limited > 0 && neighbour.status === 200,
    },
  ];
}

function replaceKnown(text: string, from: string, to: string): string {
  if (!text.includes(from)) throw new Error(`"${from}" is not in the file`);
  return text.replaceAll(from, to);
}
