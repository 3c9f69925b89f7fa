// A Node.js or Python that runs one sample after another: a new process for each would take most of the time.
import { type ChildProcess, spawn } from 'node:child_process';

/** Each reads the name of a file, runs it as a program, prints what it fails with, and ends both of its outputs with NUL. */
const loops = {
  node: `import { createInterface } from 'node:readline';
for await (const file of createInterface({ input: process.stdin })) {
  await import(file).catch((error) => console.error(error));
  process.stdout.write('\\0');
  process.stderr.write('\\0');
}`,
  python: `import sys, traceback
for line in sys.stdin:
    try:
        exec(compile(open(line.rstrip('\\n')).read(), line.rstrip('\\n'), 'exec'), {'__name__': '__main__'})
    except BaseException:
        traceback.print_exc()
    for stream in (sys.stdout, sys.stderr):
        print(end='\\0', file=stream, flush=True)`,
};

export class Interpreter {
  readonly child: ChildProcess;
  #ends = 0;
  #output = '';
  #errors = '';
  #onText = () => {};

  constructor(language: keyof typeof loops, program: string, options: { cwd: string; env: NodeJS.ProcessEnv }) {
    const args = language === 'node' ? ['--input-type=module', '--eval', loops.node] : ['-c', loops.python];
    this.child = spawn(program, args, { ...options, stdio: ['pipe', 'pipe', 'pipe'] });
    const take = (text: string) => {
      this.#ends += text.split('\0').length - 1;
      this.#onText();
      return text.replaceAll('\0', '');
    };
    this.child.stdout?.setEncoding('utf8').on('data', (text) => (this.#output += take(text)));
    this.child.stderr?.setEncoding('utf8').on('data', (text) => (this.#errors += take(text)));
    this.child.once('close', () => this.#onText());
  }

  /** Runs the program in this file to its end. `errors` is empty if it succeeded. */
  async run(file: string, timeoutMs: number): Promise<{ output: string; errors: string }> {
    [this.#ends, this.#output, this.#errors] = [0, '', ''];
    const ended = new Promise<void>((resolve) => {
      const late = setTimeout(() => this.child.kill('SIGKILL'), timeoutMs);
      this.#onText = () => {
        if (this.#ends < 2 && this.child.exitCode === null && this.child.signalCode === null) return;
        clearTimeout(late);
        // What arrived with the end is taken first.
        setImmediate(resolve);
      };
    });
    this.child.stdin?.write(`${file}\n`);
    await ended;
    return { output: this.#output, errors: this.#ends < 2 ? `it ended the process: ${this.#errors}` : this.#errors };
  }
}
