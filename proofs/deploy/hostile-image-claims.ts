// What an image can do that has taken over the process that decodes it, as each way to deploy runs that process.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { areImagesServed } from '../../service/src/images/images-client.ts';
import { openPictureMaker } from '../../service/src/images/picture-maker.ts';
import { attemptNames, hostileImage, plantHostileDecoder, succeededAttempts } from '../../testkit/hostile-decoder.ts';
import type { Targets } from '../../testkit/image-attempts.ts';
import { endProcess } from '../../testkit/running-processes.ts';
import { startPostgres, startRedis } from '../../testkit/servers.ts';
import { temporaryFolder } from '../../testkit/temporary-folder.ts';
import type { Claim } from '../proof.ts';
import { killAfterMs } from './programs.ts';

const attempts = fileURLToPath(new URL('../../testkit/image-attempts.ts', import.meta.url));
/** Users that no file of the machine belongs to. */
const [workerUser, imagesUser] = [64_001, 64_002];
const secret = 'sesame of the worker';
const startTimeoutMs = 30_000;

export interface Attempted {
  readonly way: string;
  /** What succeeded if the process does not confine itself: what the deployment leaves to it. Undefined: not tried. */
  readonly unconfined?: readonly string[];
  /** What succeeded as the process is. */
  readonly confined: readonly string[];
  /** What the worker succeeds with, which shows that there is something to reach. */
  readonly byWorker: readonly string[];
}

/** The lines that hostile-image.sh prints. */
export const readAttempts = (line: string | undefined): string[] => succeededAttempts({ crashed: line ?? '' });

export function hostileImageClaim({ way, unconfined = [], confined, byWorker }: Attempted): Claim {
  const all = attemptNames.length;
  const failed = (succeeded: readonly string[]) =>
    `${all - succeeded.length} of ${all}${succeeded.length > 0 ? ` (not: ${succeeded.join(', ')})` : ''}`;
  return {
    claim: `${way}: attempts that fail of an image that has taken over its process, without and with the filter of that process; attempts that succeed of the worker`,
    bar: `${all} of ${all}, ${all} of ${all}; at least ${all - 2}`,
    figure: `${failed(unconfined)}, ${failed(confined)}; ${byWorker.length}`,
    holds: unconfined.length === 0 && confined.length === 0 && byWorker.length >= all - 2,
  };
}

/** `homeward images` as the systemd unit runs it, as far as a machine without systemd can: a user, a network and processes of its own. */
export async function bareImageClaims(): Promise<Claim[]> {
  await using opened = new AsyncDisposableStack();
  const targets = await openTargets(opened);
  const script = `import { attemptAll } from ${JSON.stringify(attempts)}; console.log('succeeded: ' + attemptAll(${JSON.stringify(targets)}));`;
  const env = { PATH: process.env['PATH'], DATABASE_URL: secret };
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], { env });
  const [unconfined, confined] = [await attemptAlone(targets, false), await attemptAlone(targets, true)];
  const byWorker = readAttempts(stdout.trim());
  return [hostileImageClaim({ way: '`homeward images` with setpriv and unshare', unconfined, confined, byWorker })];
}

async function attemptAlone(targets: Targets, confines: boolean): Promise<string[]> {
  using hostile = plantHostileDecoder(targets, { confines });
  chmodSync(hostile.root, 0o755);
  const folder = path.join(hostile.root, 'socket');
  mkdirSync(folder);
  chownSync(folder, imagesUser, imagesUser);
  const socket = path.join(folder, 'images.sock');
  const rights = [`--reuid=${imagesUser}`, `--regid=${imagesUser}`, '--clear-groups', '--no-new-privs', '--bounding-set=-all'];
  // A change of the user clears what --kill-child has set.
  const endWithParent = '--pdeathsig=KILL';
  const program = [process.execPath, path.join(hostile.root, 'service/src/main.ts'), 'images'];
  // The folder of the targets is hidden, as the unit hides all of the file system but the program.
  const run = 'mount -t tmpfs none "$0" && exec "$@"';
  const child = spawn(
    'unshare',
    [
      '--net',
      '--mount',
      '--pid',
      '--fork',
      '--kill-child',
      '--mount-proc',
      'sh',
      '-c',
      run,
      path.dirname(targets.journal),
      'setpriv',
      ...rights,
      endWithParent,
      ...program,
    ],
    { env: { PATH: process.env['PATH'], HOMEWARD_IMAGES_SOCKET: socket }, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let problems = '';
  child.stderr.setEncoding('utf8').on('data', (text) => (problems += text));
  try {
    await untilServed(child, socket, () => problems);
    return succeededAttempts(await openPictureMaker(socket)(hostileImage()));
  } finally {
    await endProcess(child, 'SIGTERM', killAfterMs);
  }
}

async function untilServed(child: ChildProcess, socket: string, problems: () => string): Promise<void> {
  for (const deadlineMs = Date.now() + startTimeoutMs; !(await areImagesServed(socket)); await sleep(20)) {
    if (child.exitCode !== null || Date.now() > deadlineMs) throw new Error(`homeward images did not start: ${problems()}`);
  }
}

/** Files of the worker's user, and servers that a process with a network reaches. */
async function openTargets(opened: AsyncDisposableStack): Promise<Targets> {
  const { path: folder } = opened.use(temporaryFolder('targets'));
  chmodSync(folder, 0o755);
  const write = (name: string) => {
    const file = path.join(folder, name);
    mkdirSync(path.dirname(file), { recursive: true, mode: 0o750 });
    writeFileSync(file, secret, { mode: 0o600 });
    chownSync(file, workerUser, workerUser);
    return file;
  };
  const addressOf = (url: string) => `127.0.0.1:${new URL(url).port}`;
  const [postgres, redis] = [opened.use(await startPostgres()), opened.use(await startRedis())];
  const names = opened.adopt(createSocket('udp4'), (one) => void one.close());
  names.on('message', (query, { port }) => names.send(query, port, '127.0.0.1'));
  names.bind(0, '127.0.0.1');
  await once(names, 'listening');
  const outside = opened.adopt(createServer(), (one) => void one.close());
  outside.listen(0, '127.0.0.1');
  await once(outside, 'listening');
  const socket = path.join(folder, 'server.sock');
  const server = opened.adopt(createServer(), (one) => void one.close());
  server.listen(socket);
  await once(server, 'listening');
  chmodSync(socket, 0o777);
  return {
    secret,
    photos: path.dirname(write('photos/1.webp')),
    journal: write('journal.log'),
    secretFiles: [write('database-url')],
    settingsFiles: [write('homeward.env')],
    postgres: addressOf(postgres.url),
    redis: addressOf(redis.url),
    outside: `127.0.0.1:${(outside.address() as { port: number }).port}`,
    nameServer: `127.0.0.1:${names.address().port}`,
    name: 'shelter.example',
    sockets: [socket],
  };
}
