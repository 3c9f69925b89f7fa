import { readFileSync } from 'node:fs';

const pageBytes = 4_096;

/** The highest memory of some processes with their children, beyond what they had at the start. */
export class MemoryWatch implements Disposable {
  readonly #timer: NodeJS.Timeout;
  readonly #pids: readonly number[];
  readonly #before: readonly number[];
  #growth = 0;

  constructor(pids: readonly number[], intervalMs = 25) {
    this.#pids = pids;
    this.#before = pids.map(memoryWithChildren);
    this.#timer = setInterval(() => this.#look(), intervalMs);
  }

  /** Of the process that has grown the most, in bytes. */
  get growth(): number {
    return this.#growth;
  }

  #look(): void {
    for (const [i, pid] of this.#pids.entries()) this.#growth = Math.max(this.#growth, memoryWithChildren(pid) - (this.#before[i] ?? 0));
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

function memoryWithChildren(pid: number): number {
  return memoryOf(pid) + childrenOf(pid).reduce((sum, child) => sum + memoryOf(child), 0);
}

export const childrenOf = (pid: number): number[] => read(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number);

/** In bytes. */
export const memoryOf = (pid: number): number => Number(read(`/proc/${pid}/statm`).split(' ')[1] ?? 0) * pageBytes;

/** Empty if the process has ended. */
function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
