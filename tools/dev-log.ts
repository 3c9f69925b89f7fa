// The log of `npm run dev`: a file has all of it but pictures and pages that were read, the terminal only what needs attention, so that the
// start screen stays in view.
import { closeSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { stripVTControlCharacters } from 'node:util';
import { readableLogLine } from '../service/src/platform/log.ts';

const recentLinesMax = 50;
const fileBytesMax = 20_000_000;
const warning = 40;
const passingMs = 5_000;
/** Files of photos, of pages and of the documentation: a page of the site or the console has dozens. */
const files = /^\/(photos|assets|docs|favicon)\b/;

interface Entry {
  readonly level?: number;
  readonly msg?: string;
  readonly pid?: number;
  readonly status?: number;
  readonly method?: string;
  readonly url?: string;
}

export interface DevLogOptions {
  /** Replaced at each start, and begun again when it has 20 MB. */
  readonly file: string;
  readonly print: (line: string) => void;
  /** A busy machine responds late, and Redis seems lost for a moment: that is shown if it lasts longer than this. */
  readonly passingMs?: number;
}

export class DevLog implements Disposable {
  readonly #descriptor: number;
  readonly #print: (line: string) => void;
  readonly #recent: string[] = [];
  readonly #passingMs: number;
  /** What is shown unless it passes, by the id of the process. */
  readonly #passing = new Map<number, NodeJS.Timeout>();
  #fileBytes = 0;
  #isStarted = false;

  constructor({ file, print, passingMs: ms = passingMs }: DevLogOptions) {
    this.#descriptor = openSync(file, 'w');
    this.#print = print;
    this.#passingMs = ms;
  }

  /** The last lines: they say why a start has failed. */
  get recent(): readonly string[] {
    return this.#recent;
  }

  say(line: string): void {
    const entry = parse(line);
    if (isFileRead(entry)) return;
    const readable = readableLogLine(line) ?? '';
    this.#write(`${stripVTControlCharacters(readable)}\n`);
    if (this.#recent.push(readable) > recentLinesMax) this.#recent.shift();
    // Before the start screen, servers are still starting, and say so.
    if (this.#isStarted) this.#show(line, entry, readable);
  }

  /** The start screen is there. */
  started(): void {
    this.#isStarted = true;
  }

  #show(line: string, entry: Entry | undefined, readable: string): void {
    const { msg = '', pid = 0 } = entry ?? {};
    if (msg === 'Redis restored') this.#passed(pid);
    else if (msg.startsWith('Redis lost')) {
      this.#passed(pid);
      this.#passing.set(pid, setTimeout(() => this.#print(readable), this.#passingMs).unref());
    } else if (entry ? isAlarming(entry) : line.trim() !== '') this.#print(readable);
  }

  #passed(pid: number): void {
    clearTimeout(this.#passing.get(pid));
    this.#passing.delete(pid);
  }

  [Symbol.dispose](): void {
    for (const pid of this.#passing.keys()) this.#passed(pid);
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

/** Undefined: it is not of the log, such as what Node.js prints before it ends. */
function parse(line: string): Entry | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    return JSON.parse(line) as Entry;
  } catch {
    return undefined;
  }
}

const isAlarming = ({ level = 0, status = 0 }: Entry): boolean => level >= warning || status >= 500;

const isFileRead = (entry: Entry | undefined): boolean =>
  entry?.msg === 'request' && entry.method === 'GET' && (entry.status ?? 0) < 400 && files.test(entry.url ?? '');
