// A whole store on given servers, as an operator runs it: each step must succeed, and doctor must find nothing.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Finding } from '../../service/src/operations/doctor/finding.ts';
import { compileCacheOf } from '../../testkit/compile-cache.ts';
import { endProcess, hasEnded } from '../../testkit/running-processes.ts';
import { freePort } from '../../testkit/servers.ts';
import type { Servers } from './environments.ts';

export const ownRoot = fileURLToPath(new URL('../..', import.meta.url));
const commandTimeoutMs = 120_000;
const withinMs = 60_000;
/** Of a key for the store's own staff. */
const scopes = 'pets:read,pets:write,orders:read,orders:write,store:manage';

/** Throws what is wrong. `folder` is for the journal; `root` is the source tree, a mutant's perhaps. */
export async function tryStore({ ownerUrl, env: given }: Servers, folder: string, root: string): Promise<void> {
  const main = path.join(root, 'service/src/main.ts');
  await using opened = new AsyncDisposableStack();
  const port = await freePort();
  const host = given['HOST'] ?? '127.0.0.1';
  const env = {
    PATH: process.env['PATH'] ?? '',
    NODE_COMPILE_CACHE: compileCacheOf(root),
    HOMEWARD_DRAIN_MS: '0',
    HOMEWARD_JOURNAL: path.join(folder, 'journal.log'),
    PORT: String(port),
    ...given,
  };
  const homeward = async (args: readonly string[], more: Readonly<Record<string, string>> = {}) =>
    (await promisify(execFile)(process.execPath, [main, ...args], { env: { ...env, ...more }, timeout: commandTimeoutMs })).stdout;
  await homeward(['migrate'], { DATABASE_URL: ownerUrl });
  const start = (command: string) => opened.use(new OwnProcess(main, command, env));
  const serve = start('serve');
  start('worker');
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  await until('/readyz is 200 and ready', () => isReady(url), serve);
  const created = await homeward(['keys', 'create', '--client', 'Staff', '--plan', 'pro', '--scopes', scopes, '--json']);
  const { key } = JSON.parse(created) as { key: string };
  await useApi(`${url}/v1`, key);
  await homeward(['verify']);
  await requireHealth(homeward);
}

async function isReady(url: string): Promise<boolean> {
  const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(1_000) });
  // Degraded is 200 too: Redis is then not used.
  return response.status === 200 && ((await response.json()) as { status: string }).status === 'ready';
}

async function useApi(url: string, key: string): Promise<void> {
  const call = async <T>(method: string, where: string, status: number, body?: unknown): Promise<T> => {
    const headers = { authorization: `Bearer ${key}`, ...(body !== undefined && { 'content-type': 'application/json' }) };
    const response = await fetch(url + where, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) });
    if (response.status !== status) throw new Error(`${method} ${where} is ${response.status}: ${await response.text()}`);
    return (await response.json()) as T;
  };
  const pet = await call<{ id: number }>('POST', '/pets', 201, { name: 'Rex', categoryId: 1 });
  // Searches use the extensions.
  await call('PUT', `/pets/${pet.id}/profile`, 200, { description: 'A Labrador from Łódź.' });
  const order = await call<{ id: number }>('POST', '/store/orders', 201, {
    petId: pet.id,
    adopter: { name: 'Ada', email: 'ada@example.org' },
  });
  const found = await call<{ pet: { id: number } }[]>('GET', '/listings?q=lodz', 200);
  if (found[0]?.pet.id !== pet.id) throw new Error(`a search finds ${JSON.stringify(found)}`);
  await call('GET', `/store/orders/${order.id}`, 200);
  // The worker publishes them.
  await until('the events of the animal and its order are published', async () => {
    const events = await call<{ type: string }[]>('GET', '/events', 200);
    return ['pet.created', 'order.placed'].every((type) => events.some((event) => event.type === type));
  });
}

/** No alarm, and the schema is the one of `expected-schema.json`. A note on anything else is none. */
async function requireHealth(homeward: (args: readonly string[]) => Promise<string>): Promise<void> {
  const examined = await homeward(['doctor', '--json']).catch((error: { stdout?: string }) => error.stdout ?? '');
  const { findings } = JSON.parse(examined) as { findings: Finding[] };
  const alarms = findings.filter(
    ({ check, severity }) => /broken|warning/.test(severity) || (check === 'postgres-schema' && severity !== 'ok'),
  );
  if (alarms.length > 0)
    throw new Error(`doctor: ${alarms.map(({ check, severity, found }) => `${severity} ${check}: ${found}`).join('; ')}`);
  if (!findings.some(({ check }) => check === 'postgres-schema')) throw new Error('doctor did not compare the schema');
}

async function until(what: string, isSo: () => Promise<boolean>, process_?: OwnProcess): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!(await isSo().catch(() => false))) {
    if (process_?.hasEnded || performance.now() > deadline)
      throw new Error(`not within ${withinMs / 1_000} s: ${what}. ${process_?.log ?? ''}`);
    await sleep(100);
  }
}

/** Ends with this process, also if that is killed: the channel to it is closed then. */
class OwnProcess implements AsyncDisposable {
  readonly #child: ChildProcess;
  #log = '';

  constructor(main: string, command: string, env: Readonly<Record<string, string>>) {
    this.#child = spawn(process.execPath, [main, command], { env, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => (this.#log = (this.#log + text).slice(-2_000)));
  }

  get hasEnded(): boolean {
    return hasEnded(this.#child);
  }

  get log(): string {
    return this.#log;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await endProcess(this.#child);
  }
}
