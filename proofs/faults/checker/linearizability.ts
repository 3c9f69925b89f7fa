// Wing and Gong's search for a linearization, with Lowe's cache of configurations: is there an order of the steps that keeps each step
// between its begin and its end, and in which each one could happen?
//
// A configuration is the set of steps that have happened, and the state. Two facts keep the search short:
// - A step that only observes is taken as soon as it fits: that changes no state, so whatever could follow still can.
// - The horizon is the earliest end of a step that must happen and has not. No step that begins after the horizon can be next, so the
//   steps that have not happened and begin before it determine the set.

/** Equal states have equal keys. */
export interface State {
  readonly key: string;
}

export interface Step<S extends State> {
  readonly beginMs: number;
  /** Infinity: it may happen at any time after its begin, or never. */
  readonly endMs: number;
  /** Never changes the state. */
  readonly isObserver: boolean;
  /** The states after the step. None: it can't happen in this state. An observer returns its argument or none. */
  apply(state: S): readonly S[];
}

export type Verdict<S extends State, T extends Step<S>> =
  | { readonly outcome: 'linearizable' }
  | {
      readonly outcome: 'not linearizable';
      /** The step that had to happen and could not, in the attempt that came furthest. */
      readonly stuck: T;
      /** What the state could have been at that point, at most `statesMax` of them. */
      readonly states: readonly S[];
      /** The steps that changed the state before, in the order of that attempt. */
      readonly path: readonly T[];
    }
  | { readonly outcome: 'undecided'; readonly configurations: number };

/** More than any history of a round needs; a search that takes more is reported as undecided. */
const configurationsMax = 300_000;
const statesMax = 4;

export function linearize<S extends State, T extends Step<S>>(steps: readonly T[], initial: S): Verdict<S, T> {
  const search = new Search<S, T>(steps);
  return search.run(initial);
}

/** A position in the search: the state, what was taken to reach it, and what is left to try. */
interface Frame<S, T> {
  readonly taken: readonly number[];
  readonly step: T | undefined;
  readonly branches: { readonly index: number; readonly state: S }[];
}

class Search<S extends State, T extends Step<S>> {
  /** By begin. */
  readonly #steps: readonly T[];
  /** Steps that have not happened, by begin. */
  readonly #waiting: LinkedIndexes;
  /** Steps that have not happened and must, by end. */
  readonly #due: LinkedIndexes;
  readonly #seen = new Set<string>();
  #furthest: { endMs: number; stuck: T; states: Map<string, S>; path: readonly T[] } | undefined;

  constructor(steps: readonly T[]) {
    this.#steps = steps.toSorted((a, b) => a.beginMs - b.beginMs);
    const indexes = this.#steps.map((_, index) => index);
    const endOf = (index: number) => this.#steps[index]?.endMs ?? Infinity;
    this.#waiting = new LinkedIndexes(indexes, steps.length);
    this.#due = new LinkedIndexes(
      indexes.filter((index) => endOf(index) !== Infinity).toSorted((a, b) => endOf(a) - endOf(b)),
      steps.length,
    );
  }

  run(initial: S): Verdict<S, T> {
    const frames: Frame<S, T>[] = [];
    let next: { index: number | undefined; state: S } | undefined = { index: undefined, state: initial };
    while (next) {
      const { index, state }: { index: number | undefined; state: S } = next;
      const taken = this.#take(index, state);
      if (this.#due.first === undefined) return { outcome: 'linearizable' };
      const frame: Frame<S, T> = { taken, step: index === undefined ? undefined : this.#steps[index], branches: [] };
      frames.push(frame);
      if (this.#isNew(state)) {
        if (this.#seen.size > configurationsMax) return { outcome: 'undecided', configurations: this.#seen.size };
        frame.branches.push(...this.#branchesOf(state));
        this.#note(state, frames);
      }
      next = this.#backtrack(frames);
    }
    if (!this.#furthest) throw new Error('a search that fails has a furthest point');
    const { stuck, states, path } = this.#furthest;
    return { outcome: 'not linearizable', stuck, states: [...states.values()], path };
  }

  /** Takes the step and every observer that fits the state after it. Returns what was taken, in this order. */
  #take(index: number | undefined, state: S): number[] {
    const taken: number[] = [];
    const take = (one: number) => {
      this.#waiting.remove(one);
      this.#due.remove(one);
      taken.push(one);
    };
    if (index !== undefined) take(index);
    for (let at = this.#waiting.first; at !== undefined; at = this.#waiting.after(at)) {
      const step = this.#steps[at];
      if (!step || step.beginMs > this.#horizonMs) break;
      if (step.isObserver && step.apply(state).length > 0) take(at);
    }
    return taken;
  }

  get #horizonMs(): number {
    return this.#due.first === undefined ? Infinity : (this.#steps[this.#due.first]?.endMs ?? Infinity);
  }

  #isNew(state: S): boolean {
    let key = `${state.key}\n${this.#due.first}`;
    for (let at = this.#waiting.first; at !== undefined; at = this.#waiting.after(at)) {
      if ((this.#steps[at]?.beginMs ?? Infinity) > this.#horizonMs) break;
      key += ` ${at}`;
    }
    const sizeBefore = this.#seen.size;
    return this.#seen.add(key).size > sizeBefore;
  }

  /** What could happen next, the most promising last: what must happen comes before what may, and the earlier end first. */
  #branchesOf(state: S): { index: number; state: S }[] {
    const found: { index: number; endMs: number; state: S }[] = [];
    for (let at = this.#waiting.first; at !== undefined; at = this.#waiting.after(at)) {
      const step = this.#steps[at];
      if (!step || step.beginMs > this.#horizonMs) break;
      if (!step.isObserver) for (const after of step.apply(state)) found.push({ index: at, endMs: step.endMs, state: after });
    }
    return found.sort((a, b) => (a.endMs === b.endMs ? b.index - a.index : b.endMs - a.endMs));
  }

  #note(state: S, frames: readonly Frame<S, T>[]): void {
    const stuck = this.#due.first === undefined ? undefined : this.#steps[this.#due.first];
    if (!stuck || stuck.endMs < (this.#furthest?.endMs ?? -Infinity)) return;
    if (stuck.endMs > (this.#furthest?.endMs ?? -Infinity)) {
      const path = frames.flatMap(({ step }) => step ?? []);
      this.#furthest = { endMs: stuck.endMs, stuck, states: new Map(), path };
    }
    const states = this.#furthest?.states;
    if (states && states.size < statesMax) states.set(state.key, state);
  }

  /** Undoes frames without a branch left. Undefined: everything was tried. */
  #backtrack(frames: Frame<S, T>[]): { index: number; state: S } | undefined {
    for (let frame = frames.at(-1); frame; frame = frames.at(-1)) {
      const branch = frame.branches.pop();
      if (branch) return branch;
      frames.pop();
      for (const index of frame.taken.toReversed()) {
        this.#waiting.restore(index);
        this.#due.restore(index);
      }
    }
    return undefined;
  }
}

/** Indexes in a fixed order, of which any can be removed and, in reverse order, restored. */
class LinkedIndexes {
  readonly #next: Int32Array;
  readonly #previous: Int32Array;
  readonly #contains: Uint8Array;
  readonly #end: number;

  constructor(order: readonly number[], size: number) {
    this.#end = size;
    this.#next = new Int32Array(size + 1).fill(size);
    this.#previous = new Int32Array(size + 1).fill(size);
    this.#contains = new Uint8Array(size + 1);
    let last = size;
    for (const index of order) {
      this.#contains[index] = 1;
      this.#next[last] = index;
      this.#previous[index] = last;
      last = index;
    }
    this.#next[last] = size;
    this.#previous[size] = last;
  }

  get first(): number | undefined {
    return this.#indexAt(this.#next[this.#end]);
  }

  /** Also of an index that was just removed. */
  after(index: number): number | undefined {
    return this.#indexAt(this.#next[index]);
  }

  /** Does nothing for an index that was never in the order. */
  remove(index: number): void {
    if (this.#contains[index] === 0) return;
    const [next = this.#end, previous = this.#end] = [this.#next[index], this.#previous[index]];
    this.#next[previous] = next;
    this.#previous[next] = previous;
  }

  restore(index: number): void {
    if (this.#contains[index] === 0) return;
    const [next = this.#end, previous = this.#end] = [this.#next[index], this.#previous[index]];
    this.#next[previous] = index;
    this.#previous[next] = index;
  }

  #indexAt(index: number | undefined): number | undefined {
    return index === this.#end ? undefined : index;
  }
}
