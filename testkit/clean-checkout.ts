// The project as a fresh clone: nothing is installed or cached, and commands run on the machine's Node.js, not the pinned one.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { stillRunning, treeOf } from './running-processes.ts';

const ownRoot = fileURLToPath(new URL('..', import.meta.url));
const installTimeoutMs = 300_000;
const screenTimeoutMs = 60_000;
const endTimeoutMs = 20_000;

export interface ShellResponse {
  readonly status: number | null;
  readonly output: string;
}

/** A running `npm run dev` of a checkout that has shown its start screen. */
export interface DevRun {
  readonly screen: string;
  /** Sends Ctrl-C. Returns the number of processes that were running, and the ids of those that still are. */
  end(): Promise<{ started: number; left: number[] }>;
}

export class CleanCheckout implements Disposable {
  readonly folder: string;
  readonly #env: NodeJS.ProcessEnv;

  constructor() {
    this.folder = mkdtempSync(path.join(tmpdir(), 'homeward-clone-'));
    // mkdtemp creates the folder with mode 700, but a clone has 755. If this runs as root, PostgreSQL runs as another user, who must
    // be able to enter it.
    chmodSync(this.folder, 0o755);
    const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], { cwd: ownRoot, encoding: 'utf8' });
    for (const file of listed.split('\0').filter((one) => one && existsSync(path.join(ownRoot, one)))) {
      cpSync(path.join(ownRoot, file), path.join(this.folder, file));
    }
    this.#env = cleanEnvironment();
  }

  edit(file: string, from: RegExp, to: string): void {
    const target = path.join(this.folder, file);
    const text = readFileSync(target, 'utf8');
    if (!from.test(text)) throw new Error(`nothing in ${file} matches ${from}`);
    writeFileSync(target, text.replace(from, to));
  }

  /** Runs a line as if it were pasted into a shell. */
  async shell(line: string, env: Record<string, string> = {}): Promise<ShellResponse> {
    const child = spawn('sh', ['-c', line], this.#options(env));
    const output = collect(child);
    const late = setTimeout(() => endGroup(child, 'SIGKILL'), installTimeoutMs);
    const [status] = (await once(child, 'close')) as [number | null];
    clearTimeout(late);
    return { status, output: output() };
  }

  /** Resolves when the output matches `screenEnds`. Rejects if the command ends first, or if nothing matches in time. */
  async dev(command: string, screenEnds: RegExp, env: Record<string, string>): Promise<DevRun> {
    const child = spawn('sh', ['-c', command], this.#options(env));
    const output = collect(child);
    const closed = once(child, 'close');
    const end = async () => {
      const started = treeOf(child.pid ?? 0);
      endGroup(child, 'SIGINT');
      const late = setTimeout(() => endGroup(child, 'SIGKILL'), endTimeoutMs);
      await closed;
      clearTimeout(late);
      const left = stillRunning(started);
      for (const pid of left) process.kill(pid, 'SIGKILL');
      return { started: started.length, left };
    };
    try {
      await new Promise<void>((resolve, reject) => {
        const fail = (why: string) => reject(new Error(`${command} ${why}:\n${output()}`));
        child.stdout?.on('data', () => screenEnds.test(output()) && resolve());
        closed.then(() => fail('ended'), reject);
        setTimeout(() => fail(`showed no screen in ${screenTimeoutMs} ms`), screenTimeoutMs).unref();
      });
    } catch (error) {
      await end();
      throw error;
    }
    return { screen: output(), end };
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** `detached` starts a new process group, as a terminal does for each command, so that Ctrl-C can be sent to the whole group. */
  #options(env: Record<string, string>) {
    return {
      cwd: this.folder,
      env: { ...this.#env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'] as ['ignore', 'pipe', 'pipe'],
      detached: true,
    };
  }
}

/** The environment without the variables that `npm run` sets, without the pinned Node.js on PATH, and without settings of Homeward. */
export function cleanEnvironment(): NodeJS.ProcessEnv {
  const inherited =
    /^(npm_(package|lifecycle|config_local_prefix|execpath|node_execpath|command)|INIT_CWD$|NODE|HOMEWARD_|DATABASE_URL$|REDIS_URL$|HOST$|PORT$)/;
  const passed = Object.entries(process.env).filter(([name]) => !inherited.test(name) || name === 'NODE_EXTRA_CA_CERTS');
  const folders = (process.env['PATH'] ?? '').split(path.delimiter).filter((folder) => !folder.includes('node_modules'));
  return { ...Object.fromEntries(passed), PATH: folders.join(path.delimiter) };
}

function collect(child: ChildProcess): () => string {
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  return () => output;
}

function endGroup({ pid, exitCode }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid && exitCode === null) process.kill(-pid, signal);
}
