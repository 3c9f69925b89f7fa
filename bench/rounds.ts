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

export type Measure = (seconds: number) => Promise<Sample>;

const firstWarmUpSeconds = 2;
const warmUpSeconds = 1;

/**
 * All contenders take turns, so that other load on the machine affects them alike; each round starts with another one.
 * Each contender is warmed up before its turn, because its cached keys have expired while it was idle.
 */
export async function runRounds(
  measures: ReadonlyMap<string, Measure>,
  { rounds, seconds, progress }: { rounds: number; seconds: number; progress: (text: string) => void },
): Promise<Map<string, Sample[]>> {
  const names = [...measures.keys()];
  const samples = new Map(names.map((name) => [name, [] as Sample[]]));
  for (const [name, measure] of measures) {
    progress(`warming up ${name}`);
    await measure(firstWarmUpSeconds);
  }
  for (let round = 0; round < rounds; round += 1) {
    const first = round % names.length;
    for (const name of [...names.slice(first), ...names.slice(0, first)]) {
      const measure = measures.get(name);
      if (!measure) continue;
      progress(`round ${round + 1} of ${rounds}, ${name}`);
      await measure(warmUpSeconds);
      samples.get(name)?.push(await measure(seconds));
    }
  }
  return samples;
}
