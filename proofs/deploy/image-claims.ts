// The image: what is in it, what it may do, how it starts and ends, and `podman run` from nothing to a first 200.
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, startPostgres, startRedis } from '../../testkit/servers.ts';
import { temporaryFolder } from '../../testkit/temporary-folder.ts';
import type { Claim } from '../proof.ts';
import { firstClaim, firstPageClaim } from './first-claim.ts';
import { containerEnv, homewardImage } from './images.ts';
import { run } from './programs.ts';
import { type ContainerOptions, containerArguments, RunningContainer } from './running-container.ts';
import { instants, type Stopped, stopClaim } from './starts.ts';

const bytesMax = 240_000_000;
const startMsMax = 1_500;
const startCount = 5;
const killAfterMs = 20_000;

interface Inspected {
  readonly Size: number;
  readonly Labels: Readonly<Record<string, string>>;
}

export async function contentClaim(): Promise<Claim> {
  const [image] = JSON.parse(await run('podman', ['image', 'inspect', homewardImage], { env: containerEnv })) as [Inspected];
  const compare = `const read = (file) => JSON.parse(require('node:fs').readFileSync('/app/' + file, 'utf8'));
    const listed = new Set(read('sbom.cdx.json').components.map(({ name, group, version }) => [group, name].filter(Boolean).join('/') + '@' + version));
    const installed = Object.entries(read('node_modules/.package-lock.json').packages).filter(([, one]) => !one.link && one.version);
    const missing = installed.map(([path, { version }]) => path.replace(/^.*node_modules\\//, '') + '@' + version).filter((one) => !listed.has(one) && !one.startsWith('service@'));
    console.log(JSON.stringify({ listed: listed.size, missing }));`;
  const printed = await run('podman', ['run', '--rm', '--network=none', '--entrypoint=node', homewardImage, '-e', compare], {
    env: containerEnv,
  });
  const sbom = JSON.parse(printed) as { listed: number; missing: string[] };
  const labels = ['version', 'revision', 'source', 'licenses'].filter((name) => image.Labels[`org.opencontainers.image.${name}`]);
  return {
    claim: 'The image: its size, its labels, and its SBOM, which lists every installed package',
    bar: `${bytesMax / 1e6} MB at most, 4 labels, 0 packages missing`,
    figure:
      `${(image.Size / 1e6).toFixed(0)} MB; ${labels.join(', ')}; ${sbom.listed} packages, ${sbom.missing.length} missing ${sbom.missing.join(', ')}`.trim(),
    holds: image.Size <= bytesMax && labels.length === 4 && sbom.missing.length === 0 && sbom.listed > 20,
  };
}

/** From nothing to a first 200 with the commands of docs/deploy.md, and then the bars of the image. */
export async function podmanClaims(progress: (text: string) => void): Promise<Claim[]> {
  using temporary = temporaryFolder('secrets');
  const secrets = temporary.path;
  // The user of the container must be able to enter it.
  chmodSync(secrets, 0o755);
  await using postgres = await startPostgres();
  await using redis = await startRedis();
  const write = (name: string, text: string) => writeFileSync(path.join(secrets, name), `${text}\n`, { mode: 0o644 });
  write('database-url', postgres.url);
  write('redis-url', redis.url);
  const env = { DATABASE_URL_FILE: '/run/secrets/homeward/database-url', REDIS_URL_FILE: '/run/secrets/homeward/redis-url' };
  const command = (...words: string[]) => run('podman', ['run', ...containerArguments({ env, secrets }, words)], { env: containerEnv });
  const startedAtMs = performance.now();
  await command('migrate');
  const { key } = JSON.parse(await command('keys', 'create', '--client', 'Shelter North', '--plan', 'free', '--json')) as { key: string };
  const options: ContainerOptions = { secrets, env: { ...env, PORT: String(await freePort()) } };
  const first = await firstResponse(options, key);
  const seconds = (performance.now() - startedAtMs) / 1_000;
  const starts = [first];
  while (starts.length < startCount) starts.push(await firstResponse(options, key));
  const consoleStartedAtMs = performance.now();
  const page = await firstPage(options);
  const pageSeconds = (performance.now() - consoleStartedAtMs) / 1_000;
  const startsMs = starts.map(({ startMs }) => startMs);
  progress('SIGTERM during the start of a container');
  const stopped: Stopped[] = [];
  for (const instantMs of instants(40, 1_600)) stopped.push(await stopContainer(options, instantMs));
  const medianMs = startsMs.toSorted((a, b) => a - b)[Math.floor(startsMs.length / 2)] ?? Number.NaN;
  return [
    firstClaim('podman run', first.status, seconds),
    firstPageClaim('podman run', page, pageSeconds),
    {
      claim: 'A container runs as the documentation says: user, file system, capabilities, new privileges',
      bar: 'uid 1000, read-only, none, none',
      figure: first.rights,
      holds: first.rights === 'uid 1000, read-only, capabilities 0, no new privileges',
    },
    {
      claim: `From process 1 of a container to its first 200, median of ${startCount} starts`,
      bar: `${startMsMax / 1_000} s at most`,
      figure: `${(medianMs / 1_000).toFixed(2)} s; each: ${startsMs.map((ms) => (ms / 1_000).toFixed(2)).join(', ')}; CPU time ${(Math.min(...starts.map(({ cpuMs }) => cpuMs)) / 1_000).toFixed(2)} s`,
      holds: medianMs <= startMsMax,
      isTimed: true,
    },
    stopClaim('the start of a container', stopped),
  ];
}

async function firstResponse(
  options: ContainerOptions,
  key: string,
): Promise<{ status: number; startMs: number; cpuMs: number; rights: string }> {
  await using container = await RunningContainer.start(options, ['serve']);
  const url = `http://127.0.0.1:${options.env['PORT']}/v1/pets`;
  const deadlineMs = Date.now() + killAfterMs;
  for (;;) {
    const response = await fetch(url, { headers: { authorization: `Bearer ${key}` } }).catch(() => undefined);
    const startMs = performance.now() - container.startedAtMs;
    await response?.arrayBuffer();
    if (response?.ok || Date.now() > deadlineMs) {
      return { status: response?.status ?? 0, startMs, cpuMs: container.cpuMs(), rights: rightsOf(container.pid) };
    }
    await sleep(10);
  }
}

/** Of the console, in a container of its own. */
async function firstPage({ env, ...options }: ContainerOptions): Promise<number> {
  const port = String(await freePort());
  const variables = { HOMEWARD_CONSOLE_PORT: port, HOMEWARD_CONSOLE_URL: 'https://console.example.org' };
  await using _ = await RunningContainer.start({ ...options, env: { ...env, ...variables } }, ['console']);
  const deadlineMs = Date.now() + killAfterMs;
  for (;;) {
    const response = await fetch(`http://127.0.0.1:${port}/sign-in`).catch(() => undefined);
    await response?.arrayBuffer();
    if (response?.ok || Date.now() > deadlineMs) return response?.status ?? 0;
    await sleep(10);
  }
}

function rightsOf(pid: number): string {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const field = (name: string) => new RegExp(`^${name}:\\s+(\\S+)`, 'm').exec(status)?.[1] ?? '?';
  const sets = ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb'].map(field);
  const capabilities = sets.every((set) => /^0+$/.test(set)) ? '0' : sets.join('/');
  const root = readFileSync(`/proc/${pid}/mountinfo`, 'utf8')
    .split('\n')
    .map((line) => line.split(' '))
    .find((words) => words[4] === '/');
  const system = root?.[5]?.split(',').includes('ro') ? 'read-only' : 'writable';
  return `uid ${field('Uid')}, ${system}, capabilities ${capabilities}, ${field('NoNewPrivs') === '1' ? 'no new privileges' : 'new privileges'}`;
}

async function stopContainer(options: ContainerOptions, instantMs: number): Promise<Stopped> {
  await using container = await RunningContainer.start(options, ['serve']);
  await sleep(instantMs);
  const signalledAtMs = performance.now();
  container.signal('SIGTERM');
  const isEnded = await container.ended(killAfterMs);
  const endedAfterMs = performance.now() - signalledAtMs;
  return { instantMs, endedAfterMs, how: isEnded ? String(await container.status()) : 'nothing' };
}
