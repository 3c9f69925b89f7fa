/** One thing that is promised, the figure that it was measured at, and whether it held. */
export interface Claim {
  readonly claim: string;
  readonly bar: string;
  readonly figure: string;
  readonly holds: boolean;
  /** A bound on elapsed time, which a machine that is busy with other things can break alone: CI may measure it again. */
  readonly isTimed?: boolean;
}

export interface ProofContext {
  /** The form that CI runs: the same claims at a smaller size, within about 20 s. */
  readonly short: boolean;
  /** Breaks the thing that is promised, where the proof has a mutant: then a claim must not hold. */
  readonly mutant: boolean;
  progress(text: string): void;
}

export interface Proof {
  readonly name: string;
  readonly promise: string;
  readonly hasMutant?: boolean;
  /** It measures time or processor use, which other work on the machine would change: it is never run beside another proof. */
  readonly runsAlone?: boolean;
  run(context: ProofContext): Promise<Claim[]>;
}
