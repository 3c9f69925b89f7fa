import type { Edit } from '../testkit/mutant.ts';

/** One measurable part of a promise: the bar, the measured figure, and whether it holds. */
export interface Claim {
  readonly claim: string;
  readonly bar: string;
  readonly figure: string;
  readonly holds: boolean;
  /** A bound on elapsed time, which other load on the machine can break. It decides only where the proof runs alone, as every night. */
  readonly isTimed?: boolean;
  /** It did not hold beside other proofs, and decides nothing. */
  readonly isLate?: boolean;
  /** The bar is not reached yet, as docs/promises.md says. The nightly check reports it and does not fail. */
  readonly isKnownMiss?: boolean;
  /** The proof could not be run on this machine, and the figure says why. In CI it must run. */
  readonly isNotRun?: boolean;
}

export interface ProofContext {
  /** Runs the form for CI: the same claims at a smaller size, within about 20 s. */
  readonly short: boolean;
  /** Breaks the promise on purpose, if the proof has a mutant. Then at least one claim must not hold. */
  readonly mutant: boolean;
  /** The source tree with the edits of `mutant`, if it is run as one. */
  readonly root?: string | undefined;
  /** Only these of the proof's parts. Empty: all of them. */
  readonly parts: readonly string[];
  /** How often each part is run, instead of the proof's own number. */
  readonly times?: number | undefined;
  /** Decides everything that is random, if the proof has something random that can be repeated. */
  readonly seed?: number | undefined;
  progress(text: string): void;
}

export interface Proof {
  readonly name: string;
  readonly promise: string;
  /** Edits of the service that break the promise. */
  readonly mutant?: readonly Edit[];
  /** It breaks the promise by itself, in another way than by edits of the service. */
  readonly hasMutant?: boolean;
  /** It needs all of the machine, or ports of its own, so no other proof runs at the same time. */
  readonly runsAlone?: boolean;
  /**
   * Not run for every change: it is about one part, or compares times under load, which the shared cores of CI can't show. Its long form is
   * run every night.
   */
  readonly isNightly?: boolean;
  /** The part that it is about: CI runs the short form of a nightly proof where one of these files and folders has changed. */
  readonly about?: readonly string[];
  /** Names of parts that can be run alone. */
  readonly parts?: readonly string[];
  /** If the usual time is not enough. */
  readonly timeoutMs?: number;
  run(context: ProofContext): Promise<Claim[]>;
}
