// Runs a guide from top to bottom: its commands in bash, its programs in one Node.js and one Python, in one folder, against a store.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { findPython } from '../../../testkit/python.ts';
import type { Block } from './fenced-blocks.ts';
import { Interpreter } from './interpreter.ts';

const sdk = fileURLToPath(new URL('../../../sdk', import.meta.url));
const stepTimeoutMs = 30_000;

/** Undefined where it is missing, which only CI may not accept. */
export const python = findPython();
if (!python && process.env['CI']) throw new Error('The samples in Python need python3 with the library requests.');

/** What the samples of the guides may use without declaring it. */
const prelude = `import { createStore as createStoreOfThePrelude } from '@homeward/sdk';
const store = createStoreOfThePrelude({ url: process.env.HOMEWARD_URL, key: process.env.HOMEWARD_KEY });
`;

/** Placeholders for the reader's own address and key. */
const placeholders = { url: 'https://homeward.example', key: 'hw_live_…' };

export const isProgram = ({ language }: Block): boolean => ['js', 'ts'].includes(language);

/** Whether a sample creates its own `store`, or needs none. */
export const makesStore = ({ text }: Block): boolean => /\bconst store = /.test(text) || !/\bstore\./.test(text);

/** A sample in Python uses what the guide has declared once, in the block that creates the session. */
export function withSetup(block: Block, guide: readonly Block[]): Block {
  const setup = guide.find(({ language, text }) => language === 'py' && /^session = /m.test(text));
  const needsSetup = block.language === 'py' && block !== setup && /\bsession\./.test(block.text);
  return setup && needsSetup ? { ...block, text: `${setup.text}\n${block.text}` } : block;
}

export class GuideRun implements Disposable {
  readonly folder: string;
  readonly #env: NodeJS.ProcessEnv;
  readonly #children = new Set<ChildProcess>();
  readonly #interpreters: { node?: Interpreter; python?: Interpreter } = {};
  #programs = 0;

  constructor(env: { HOMEWARD_URL: string; HOMEWARD_KEY: string; [name: string]: string }) {
    this.folder = mkdtempSync(path.join(tmpdir(), 'homeward-guide-'));
    mkdirSync(path.join(this.folder, 'node_modules/@homeward'), { recursive: true });
    symlinkSync(sdk, path.join(this.folder, 'node_modules/@homeward/sdk'));
    // Without progress output of curl.
    writeFileSync(path.join(this.folder, '.curlrc'), 'silent\nshow-error\n');
    this.#env = { PATH: process.env['PATH'], HOME: this.folder, CURL_HOME: this.folder, ...env };
  }

  /** Runs a block to its end and returns its output. Throws if it fails. */
  async do(block: Block): Promise<string> {
    if (block.language !== 'sh') return this.#interpret(block);
    const step = this.start(block);
    const late = setTimeout(() => step.child.kill('SIGKILL'), stepTimeoutMs);
    const [status] = (await once(step.child, 'close')) as [number | null];
    clearTimeout(late);
    if (status !== 0 || step.errors() !== '') throw new Error(`it ended with status ${status}: ${step.errors()}${step.output()}`);
    return step.output();
  }

  async #interpret(block: Block): Promise<string> {
    const language = block.language === 'py' ? 'python' : 'node';
    const interpreter = this.#interpreters[language] ?? this.#startInterpreter(language);
    const { output, errors } = await interpreter.run(this.#write(block), stepTimeoutMs);
    if (errors !== '') throw new Error(`it failed: ${errors}${output}`);
    return output;
  }

  #startInterpreter(language: 'node' | 'python'): Interpreter {
    const program = language === 'python' ? (python ?? 'python3') : process.execPath;
    const interpreter = new Interpreter(language, program, { cwd: this.folder, env: this.#env });
    this.#interpreters[language] = interpreter;
    this.#children.add(interpreter.child);
    return interpreter;
  }

  /** Runs an endless block until it has printed an expected text, and returns its output. */
  async doUntil(block: Block, isEnough: (output: string) => boolean): Promise<string> {
    const step = this.start(block);
    const closed = once(step.child, 'close');
    const isOver = closed.then(() => true);
    const deadlineMs = Date.now() + stepTimeoutMs;
    while (!isEnough(step.output()) && Date.now() < deadlineMs) {
      const wait = new Promise<false>((resolve) => setTimeout(resolve, 20, false));
      if (await Promise.race([isOver, wait])) throw new Error(`it ended: ${step.errors()}${step.output()}`);
    }
    step.child.kill('SIGKILL');
    await closed;
    if (step.errors() !== '' || !isEnough(step.output())) throw new Error(`it printed too little: ${step.errors()}${step.output()}`);
    return step.output();
  }

  start(block: Block): { child: ChildProcess; output: () => string; errors: () => string } {
    const [file, args] = commandOf(block, (program) => this.#write(program));
    const child = spawn(file, args, { cwd: this.folder, env: this.#env, stdio: ['ignore', 'pipe', 'pipe'] });
    this.#children.add(child);
    child.once('exit', () => this.#children.delete(child));
    let [output, errors] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text) => (output += text));
    child.stderr.setEncoding('utf8').on('data', (text) => (errors += text));
    return { child, output: () => output, errors: () => errors };
  }

  [Symbol.dispose](): void {
    for (const child of this.#children) child.kill('SIGKILL');
    rmSync(this.folder, { recursive: true, force: true });
  }

  #write(block: Block): string {
    this.#programs += 1;
    const file = path.join(this.folder, `sample-${this.#programs}.${block.language === 'py' ? 'py' : `m${block.language}`}`);
    const text = block.text
      .replaceAll(`${placeholders.url}/sdk/index.js`, '@homeward/sdk')
      .replaceAll(placeholders.url, this.#env['HOMEWARD_URL'] ?? '')
      .replaceAll(placeholders.key, this.#env['HOMEWARD_KEY'] ?? '');
    writeFileSync(file, (block.language === 'py' || makesStore(block) ? '' : prelude) + text);
    return file;
  }
}

function commandOf(block: Block, write: (program: Block) => string): [file: string, args: string[]] {
  if (block.language === 'py') return [python ?? 'python3', [write(block)]];
  return isProgram(block) ? [process.execPath, [write(block)]] : ['bash', ['-euo', 'pipefail', '-c', block.text]];
}
