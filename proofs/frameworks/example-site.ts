// An example site as a partner gets it: a copy of its folder, installed, built, and started.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../testkit/servers.ts';

const examples = fileURLToPath(new URL('../../examples', import.meta.url));
const notCopied = new Set(['node_modules', 'dist', '.next', '.astro', '.env', '.env.local']);
const commandTimeoutMs = 5 * 60_000;
const startTimeoutMs = 60_000;

export interface RunningExample {
  readonly url: string;
  /** What the site has printed. */
  output(): string;
  close(): Promise<void>;
}

type Environment = Readonly<Record<string, string>>;

export class ExampleSite implements Disposable {
  readonly folder: string;
  /** Without the address and the key of a store: a site must build without them. */
  readonly #env: NodeJS.ProcessEnv;

  constructor(name: string) {
    this.folder = mkdtempSync(path.join(tmpdir(), `homeward-${name}-`));
    cpSync(path.join(examples, name), this.folder, { recursive: true, filter: (file) => !notCopied.has(path.basename(file)) });
    // Scripts run on the Node.js that runs this proof.
    const PATH = `${path.dirname(process.execPath)}${path.delimiter}${process.env['PATH']}`;
    const { HOMEWARD_URL: _, HOMEWARD_KEY: __, NODE_ENV: ___, NODE_COMPILE_CACHE: ____, ...env } = process.env;
    this.#env = { ...env, PATH, NO_COLOR: '1', NEXT_TELEMETRY_DISABLED: '1', ASTRO_TELEMETRY_DISABLED: '1' };
  }

  /** Runs a command to its end and returns how many seconds it took. Throws with its output if it fails. */
  async run(...command: string[]): Promise<number> {
    const startedAtMs = performance.now();
    const { child, output } = this.#spawn(command, {});
    const late = setTimeout(() => endGroup(child, 'SIGKILL'), commandTimeoutMs);
    const [status] = await once(child, 'close');
    clearTimeout(late);
    if (status !== 0) throw new Error(`'${command.join(' ')}' ended with status ${status}:\n${output()}`);
    return (performance.now() - startedAtMs) / 1_000;
  }

  /** Starts the built site. */
  async start(env: Environment): Promise<RunningExample> {
    const port = String(await freePort());
    return this.#open(['npm', 'start'], `http://127.0.0.1:${port}`, { ...env, PORT: port, HOST: '127.0.0.1', HOSTNAME: '127.0.0.1' });
  }

  /** Starts it as its README.md says first, on the Node.js in this folder. The port is an argument for some and a variable for others. */
  async startDevelopment(env: Environment, nodeFolder: string): Promise<RunningExample> {
    const port = String(await freePort());
    const PATH = `${nodeFolder}${path.delimiter}${process.env['PATH']}`;
    return this.#open(['npm', 'run', 'dev', '--', '--port', port], `http://localhost:${port}`, { ...env, PATH, PORT: port });
  }

  /** Rejects with what the site has printed if it ends, or if it does not start in time. */
  async #open(command: readonly string[], url: string, env: Environment): Promise<RunningExample> {
    const { child, output } = this.#spawn(command, env);
    const closed = once(child, 'close');
    const close = async () => {
      endGroup(child, 'SIGKILL');
      await closed;
    };
    const deadlineMs = Date.now() + startTimeoutMs;
    while (!(await accepts(url))) {
      if (child.exitCode !== null || Date.now() > deadlineMs) {
        await close();
        throw new Error(`the site did not start:\n${output()}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return { url, output, close };
  }

  /** The files of the built site that contain a text. */
  filesWith(text: string): string[] {
    const files = readdirSync(this.folder, { recursive: true, withFileTypes: true });
    return files
      .filter((file) => file.isFile() && !file.parentPath.includes('node_modules'))
      .map((file) => path.join(file.parentPath, file.name))
      .filter((file) => readFileSync(file).includes(text))
      .map((file) => path.relative(this.folder, file));
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  #spawn([file = '', ...args]: readonly string[], env: Environment): { child: ChildProcess; output: () => string } {
    // A separate process group: npm starts the site as a child of a shell.
    const options = { cwd: this.folder, env: { ...this.#env, ...env }, detached: true };
    const child = spawn(file, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (output += text));
    return { child, output: () => output };
  }
}

async function accepts(url: string): Promise<boolean> {
  // Any response will do: without a store, a site may have an error page.
  const response = await fetch(url, { method: 'HEAD' }).catch(() => undefined);
  return response !== undefined;
}

function endGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch (error) {
    // It may have ended in the meantime.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
