// A history as JSON lines, each with its kind.
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import type { Arrival, Channel, History, KeyUse, LimitedUse, LoadInterval, Operation, Restart, Revocation } from './history.ts';

interface Limits {
  readonly kind: 'limits';
  readonly perMinute: number;
  readonly perDay: number;
}

type Line =
  | Operation
  | Channel
  | Arrival
  | Restart
  | Revocation
  | KeyUse
  | LimitedUse
  | Limits
  | ({ readonly kind: 'load' } & LoadInterval);

const flushIntervalMs = 200;
const flushChars = 65_536;

/** Writes at once, or a fifth of a second later, so that the history of a process that is killed is nearly complete. */
export class HistoryFile implements Disposable {
  readonly #file: number;
  readonly #timer: NodeJS.Timeout;
  #text = '';

  constructor(path: string) {
    this.#file = openSync(path, 'w');
    this.#timer = setInterval(() => this.#flush(), flushIntervalMs).unref();
  }

  add(line: Line): void {
    this.#text += `${JSON.stringify(line)}\n`;
    if (this.#text.length > flushChars) this.#flush();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.#flush();
    closeSync(this.#file);
  }

  #flush(): void {
    if (this.#text) writeSync(this.#file, this.#text);
    this.#text = '';
  }
}

/** A last line that was cut off, because the recorder was killed, is left out. */
export function readHistory(path: string): History {
  const lines = readFileSync(path, 'utf8').split('\n');
  lines.pop();
  const all = lines.map((line) => JSON.parse(line) as Line);
  const byKind = Map.groupBy(all, ({ kind }) => kind);
  const ofKind = <Kind extends Line['kind']>(...kinds: Kind[]) =>
    kinds.flatMap((kind) => byKind.get(kind) ?? []) as Extract<Line, { kind: Kind }>[];
  return {
    load: ofKind('load')[0],
    operations: ofKind('create', 'change', 'remove', 'place', 'act', 'read', 'list').sort((a, b) => a.id - b.id),
    channels: ofKind('stream' as 'stream' | 'endpoint', 'endpoint' as 'stream' | 'endpoint') as Channel[],
    arrivals: ofKind('arrival'),
    restarts: ofKind('restart'),
    revocations: ofKind('revocation'),
    keyUses: ofKind('key-use'),
    limitedUses: ofKind('limited-use'),
    limits: ofKind('limits')[0],
  };
}
