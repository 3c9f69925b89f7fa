// npm run dev [-- --private]: starts a whole store for development. Ctrl-C ends everything that it started.
//   --private  starts its own PostgreSQL and Redis, even if some run on the default ports
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify, styleText } from 'node:util';
import { createStore, type Store } from '../sdk/src/index.ts';
import { defaultScopes } from '../service/src/domain/scopes.ts';
import { loadConfig } from '../service/src/platform/config.ts';
import { freePort } from '../testkit/servers.ts';
import { ensureBuilt } from './build.ts';
import { devAnimals } from './dev-animals.ts';
import { addApplications } from './dev-applications.ts';
import { describeExampleSite, type ExampleSite, openExampleSite } from './dev-example-site.ts';
import { DevLog } from './dev-log.ts';
import { addAnimals, addPictures, describeAnimals } from './dev-seed.ts';
import { type FoundServers, findServers } from './dev-servers.ts';
import { publishServers } from './dev-servers-file.ts';
import { DevService } from './dev-service.ts';
import { addToday } from './dev-today.ts';

interface RunningStore {
  readonly servers: FoundServers;
  /** Without /v1. */
  readonly url: string;
  readonly key: string;
  readonly site: ExampleSite;
  /** Signs in to the console, once. */
  readonly consoleLink: string;
  readonly isComplete: boolean;
}

const root = fileURLToPath(new URL('..', import.meta.url));
const command = path.join(root, 'service/bin/homeward.mjs');
const source = path.join(root, 'service/src');
const folder = path.join(root, '.homeward');
const keyFile = path.join(folder, 'dev-key');
const logFile = path.join(folder, 'dev.log');
/** It exists from the first start until the store has all its animals and their pictures. */
const seedingFile = path.join(folder, 'seeding');
const limits = { perMinute: 10_000, perDay: 1_000_000 };
const portsTriedMax = 100;

await dev();

async function dev(): Promise<void> {
  const ending = whenAskedToEnd();
  try {
    const { values } = parseArgs({ options: { private: { type: 'boolean' } } });
    await using resources = new AsyncDisposableStack();
    mkdirSync(folder, { recursive: true });
    const log = resources.use(new DevLog({ file: logFile, print: (line) => console.log(line) }));
    const store = await open({ privately: values.private ?? false, resources, log, ending });
    showScreen(store);
    log.started();
    if (!ending.aborted) await once(ending, 'abort');
    console.log('Stopping.');
  } catch (error) {
    if (ending.aborted) return;
    const { stderr, message } = error as Error & { stderr?: string };
    console.error(stderr?.trim() || message);
    process.exitCode = 1;
  }
}

/** Every step is idempotent: what exists already is reused. */
async function open(options: {
  privately: boolean;
  resources: AsyncDisposableStack;
  log: DevLog;
  ending: AbortSignal;
}): Promise<RunningStore> {
  const { resources, log, ending } = options;
  const config = loadConfig(process.env);
  progress('Looking for PostgreSQL and Redis');
  const servers = await findServers(process.env, { ...options, folder });
  ending.throwIfAborted();
  const port = await choosePort(config);
  const consolePort = await choosePort({ host: 'localhost', port: config.consolePort === port ? port + 1 : config.consolePort });
  // A name: passkeys need one.
  const consoleUrl = `http://localhost:${consolePort}`;
  const host = config.host === '0.0.0.0' || config.host === '::' ? '127.0.0.1' : config.host;
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  const env = {
    ...process.env,
    DATABASE_URL: servers.postgres.url,
    REDIS_URL: servers.redis.url,
    PORT: String(port),
    HOMEWARD_CONSOLE_HOST: 'localhost',
    HOMEWARD_CONSOLE_PORT: String(consolePort),
    HOMEWARD_CONSOLE_URL: consoleUrl,
    HOMEWARD_DRAIN_MS: '0',
    HOMEWARD_WEBHOOKS_TO_LOOPBACK: 'on',
    // For the pages of adopters. The store sends no e-mail, unless its other settings are there.
    HOMEWARD_PUBLIC_URL: process.env['HOMEWARD_PUBLIC_URL'] || url,
    HOMEWARD_PHOTOS: process.env['HOMEWARD_PHOTOS'] || path.join(folder, 'photos'),
  };
  const homeward = async (...args: string[]) => {
    const { stdout } = await promisify(execFile)(process.execPath, [command, ...args], { env, encoding: 'utf8', signal: ending });
    return stdout;
  };
  progress('Building the SDK and the documentation, and migrating the database');
  await Promise.all([ensureBuilt(), homeward('migrate')]);
  progress('Starting the service');
  const commands = [
    [command, 'serve'],
    [command, 'worker'],
    [command, 'console'],
  ];
  const service = resources.use(new DevService(commands, { env, ports: [port, consolePort], say: (line) => log.say(line) }));
  await service.start().catch((error) => {
    throw new Error([...log.recent, error.message].join('\n'));
  });
  service.restartOnChange(source);
  resources.use(publishServers(root, env));
  ending.throwIfAborted();
  const key = await loadKey(url, homeward);
  const store = createStore({ url, key });
  await seed(store, ending);
  const site = await openExampleSite({ url, key }, resources);
  const isComplete = !existsSync(seedingFile);
  if (!isComplete) {
    const adding = describeInBackground(store, ending);
    resources.defer(() => adding);
  }
  return { servers, url, key, site, consoleLink: await makeConsoleLink(homeward).catch(() => consoleUrl), isComplete };
}

/** Aborts on the first signal. Further signals are ignored, because the shutdown takes a bounded time. */
function whenAskedToEnd(): AbortSignal {
  const asked = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => asked.abort());
  process.once('disconnect', () => asked.abort());
  process.channel?.unref();
  return asked.signal;
}

/** The configured port, or the next one that is free. */
async function choosePort({ host, port }: { host: string; port: number }): Promise<number> {
  if (port === 0) return freePort();
  for (let candidate = port; candidate < Math.min(port + portsTriedMax, 65_536); candidate += 1) {
    if (!(await isFree(candidate, host))) continue;
    if (candidate !== port) console.log(`Port ${port} is taken; using ${candidate}.`);
    return candidate;
  }
  throw new Error(`All ports tried from ${port} on are taken. Set PORT to another one.`);
}

async function isFree(port: number, host: string): Promise<boolean> {
  const probe = createServer();
  const free = await new Promise<boolean>((resolve, reject) => {
    probe.once('listening', () => resolve(true));
    probe.once('error', (error: NodeJS.ErrnoException) => (error.code === 'EADDRINUSE' ? resolve(false) : reject(error)));
    probe.listen(port, host);
  });
  if (free) await new Promise((resolve) => probe.close(resolve));
  return free;
}

/** A key is shown once and only its hash is stored, so the development key is saved to a file and reused while it is valid. */
async function loadKey(url: string, homeward: (...args: string[]) => Promise<string>): Promise<string> {
  const saved = existsSync(keyFile) ? readFileSync(keyFile, 'utf8').trim() : '';
  if (saved && (await fetch(`${url}/v1/pets?limit=1`, { headers: { authorization: `Bearer ${saved}` } })).status !== 401) return saved;
  const plan = ['--plan', 'enterprise', '--per-minute', String(limits.perMinute), '--per-day', String(limits.perDay)];
  const created = await homeward(
    'keys',
    'create',
    '--client',
    'dev',
    ...plan,
    '--scopes',
    [...defaultScopes, 'store:manage'].join(','),
    '--json',
  );
  const { key } = JSON.parse(created) as { key: string };
  writeFileSync(keyFile, `${key}\n`, { mode: 0o600 });
  return key;
}

/** Signs in an admin of the store: who has not joined yet is invited. */
async function makeConsoleLink(homeward: (...args: string[]) => Promise<string>): Promise<string> {
  const email = 'dev@example.org';
  const made = await homeward('people', 'link', email, '--json').catch(() =>
    homeward('people', 'invite', email, '--name', 'Dev', '--role', 'admin', '--json'),
  );
  return (JSON.parse(made) as { url: string }).url;
}

/** Adds animals if there are none yet, or if an earlier start was interrupted before it had added them all. */
async function seed(store: Store, ending: AbortSignal): Promise<void> {
  const isEmpty = (await store.pets.list({ limit: 1 }).page()).items.length === 0;
  if (!isEmpty && !existsSync(seedingFile)) return;
  writeFileSync(seedingFile, '');
  const animals = devAnimals();
  progress(`Adding ${animals.length} animals`);
  await addAnimals(store, animals, ending);
}

/** Profiles take seconds, and rendering and processing the pictures takes minutes. Nothing needs to wait for it. */
async function describeInBackground(store: Store, ending: AbortSignal): Promise<void> {
  try {
    await describeAnimals(store, ending);
    await Promise.all([addAdoptions(store, ending), addPictures(store, { signal: ending })]);
    rmSync(seedingFile);
    console.log('All profiles and pictures are there.');
  } catch (error) {
    if (!ending.aborted)
      console.error(`Not all profiles, applications and pictures were added: ${(error as Error).message} The next start continues.`);
  }
}

async function addAdoptions(store: Store, ending: AbortSignal): Promise<void> {
  await addApplications(store, ending);
  await addToday(store, ending);
}

function showScreen({ servers: { postgres, redis }, url, key, site, consoleLink, isComplete }: RunningStore): void {
  const row = (name: string, value: string, note = '') => `  ${name.padEnd(12)}${value}${note && styleText('dim', `  (${note})`)}`;
  console.log(`
${styleText('bold', 'Homeward is running.')}

${row('Site', describeExampleSite(site), 'for adopters; examples/adoption-site')}
${row('Console', consoleLink, 'for staff; signs you in, once: npx homeward people link dev@example.org makes another')}
${row('Docs', `${url}/docs`)}
${row('API', `${url}/v1`)}
${row('OpenAPI', `${url}/openapi.json`)}
${row('PostgreSQL', withoutPassword(postgres.url), postgres.origin)}
${row('Redis', withoutPassword(redis.url), redis.origin)}
${row('Log', '.homeward/dev.log', 'requests; warnings and errors are shown here, too')}
${row('Key', key, `client dev, ${limits.perMinute.toLocaleString('en')} requests a minute; saved in .homeward/dev-key`)}

Try it:

  curl -H 'Authorization: Bearer ${key}' '${url}/v1/pets?limit=3'

The command line, which finds this store by itself:

  npx homeward keys list
  npx homeward applications list

${isComplete ? '' : styleText('dim', 'Profiles and pictures of the animals are being added, the newest first: profiles within seconds, pictures within minutes.\n')}${styleText('dim', 'The service restarts when service/src changes. Ctrl-C ends everything.')}
`);
}

function withoutPassword(text: string): string {
  if (!URL.canParse(text)) return text;
  const url = new URL(text);
  if (url.password) url.password = '…';
  return url.href;
}

function progress(text: string): void {
  console.log(styleText('dim', `${text} …`));
}
