// The log of `npm run dev`: a file has all of it, the terminal only what needs attention, so that the start screen stays in view.
import { closeSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { stripVTControlCharacters } from 'node:util';
import { readableLogLine } from '../service/src/platform/readable-log.ts';

const recentLinesMax = 50;
const fileBytesMax = 20_000_000;
const warning = 40;

export interface DevLogOptions {
  /** Replaced at each start, and begun again when it has 20 MB. */
  readonly file: string;
  readonly print: (line: string) => void;
}

export class DevLog implements Disposable {
  readonly #descriptor: number;
  readonly #print: (line: string) => void;
  readonly #recent: string[] = [];
  #fileBytes = 0;
  #isStarted = false;

  constructor({ file, print }: DevLogOptions) {
    this.#descriptor = openSync(file, 'w');
    this.#print = print;
  }

  /** The last lines: they say why a start has failed. */
  get recent(): readonly string[] {
    return this.#recent;
  }

  say(line: string): void {
    const readable = readableLogLine(line) ?? '';
    this.#write(`${stripVTControlCharacters(readable)}\n`);
    if (this.#recent.push(readable) > recentLinesMax) this.#recent.shift();
    // Before the start screen, servers are still starting, and say so.
    if (this.#isStarted && needsAttention(line)) this.#print(readable);
  }

  /** The start screen is there. */
  started(): void {
    this.#isStarted = true;
  }

  [Symbol.dispose](): void {
    closeSync(this.#descriptor);
  }

  #write(text: string): void {
    if (this.#fileBytes > fileBytesMax) {
      ftruncateSync(this.#descriptor);
      this.#fileBytes = 0;
    }
    this.#fileBytes += writeSync(this.#descriptor, text, this.#fileBytes);
  }
}

/** Warnings, errors, failed requests, and lines that are not of the log: what Node.js prints before it ends. */
function needsAttention(line: string): boolean {
  if (!line.startsWith('{')) return line.trim() !== '';
  try {
    const { level = 0, status = 0 } = JSON.parse(line) as { level?: number; status?: number };
    return level >= warning || status >= 500;
  } catch {
    return true;
  }
}
