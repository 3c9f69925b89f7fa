/** CPU time for one request, in µs. */
export interface CpuUs {
  /** Of the contender's process; undefined for one that only generates load. */
  readonly own?: number;
  readonly redis: number;
  /** Of all processes of PostgreSQL. */
  readonly postgres: number;
}

export interface Sample {
  readonly requests: number;
  readonly perSecond: number;
  /** Undefined if the load generator does not report it. */
  readonly p50Ms?: number;
  readonly p99Ms?: number;
  readonly bytesPerAnswer?: number;
  /** Undefined if the system does not report it. */
  readonly cpuUs?: CpuUs;
}

/** Requests for each second of CPU time that the contender's process and PostgreSQL take together. NaN if that was not measured. */
export const perCpuSecond = ({ cpuUs }: Sample): number => 1_000_000 / ((cpuUs?.own ?? Number.NaN) + (cpuUs?.postgres ?? Number.NaN));

export type Measure = (seconds: number) => Promise<Sample>;

/** A turn that gave no sample: a request got no response, or an error. */
export interface LostTurn {
  readonly contender: string;
  /** From 1 on; 0: the first warm-up. */
  readonly round: number;
  readonly reason: string;
}

export interface Rounds {
  /** In the order of the rounds: one for each. */
  readonly samples: ReadonlyMap<string, readonly Sample[]>;
  readonly lost: readonly LostTurn[];
}

const firstWarmUpSeconds = 2;
const warmUpSeconds = 1;
/** Of each contender, over all rounds. One that loses more does not do its work, and the run ends. */
const lostTurnsMax = 2;

/**
 * All contenders take turns, so that other load on the machine affects them alike; each round starts with another one.
 * Each contender is warmed up before its turn, because its cached keys have expired while it was idle. A turn that is lost is repeated at
 * once, and reported.
 */
export async function runRounds(
  measures: ReadonlyMap<string, Measure>,
  { rounds, seconds, progress }: { rounds: number; seconds: number; progress: (text: string) => void },
): Promise<Rounds> {
  const names = [...measures.keys()];
  const samples = new Map(names.map((name) => [name, [] as Sample[]]));
  const lost: LostTurn[] = [];
  for (const [name, measure] of measures) {
    progress(`warming up ${name}`);
    await takeTurn(name, 0, lost, () => measure(firstWarmUpSeconds));
  }
  for (let round = 0; round < rounds; round += 1) {
    const first = round % names.length;
    for (const name of [...names.slice(first), ...names.slice(0, first)]) {
      const measure = measures.get(name);
      if (!measure) continue;
      progress(`round ${round + 1} of ${rounds}, ${name}`);
      const sample = await takeTurn(name, round + 1, lost, async () => {
        await measure(warmUpSeconds);
        return measure(seconds);
      });
      samples.get(name)?.push(sample);
    }
  }
  return { samples, lost };
}

export const describeLost = ({ contender, round, reason }: LostTurn): string =>
  `${contender} lost its turn in ${round === 0 ? 'the warm-up' : `round ${round}`}, which was repeated: ${reason}`;

async function takeTurn(contender: string, round: number, lost: LostTurn[], turn: () => Promise<Sample>): Promise<Sample> {
  for (;;) {
    try {
      return await turn();
    } catch (error) {
      if (lost.filter((one) => one.contender === contender).length >= lostTurnsMax) throw error;
      lost.push({ contender, round, reason: (error as Error).message });
    }
  }
}
