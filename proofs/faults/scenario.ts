// What a scenario of faults consists of.
import type { Edit } from '../../testkit/mutant.ts';
import type { SeededRandom } from '../../testkit/seeded-random.ts';
import type { Cluster } from './cluster.ts';
import type { FaultyStore, StoreKeys, StoreOptions } from './faulty-store.ts';
import type { CheckOptions, History } from './history.ts';
import type { MachineOptions } from './machines.ts';
import type { Changes } from './node-files.ts';

export interface FaultContext {
  readonly cluster: Cluster;
  readonly store: FaultyStore;
  readonly keys: StoreKeys;
  readonly random: SeededRandom;
}

/** Instants are those of the history. */
export interface Injected {
  readonly faultMs: number;
  /** The fault is over, if that is not when the cluster is whole again. */
  readonly endMs?: number;
  readonly checks?: CheckOptions | ((observed: Observed) => CheckOptions);
  /** What else was seen: a measure of the scenario judges it. */
  readonly seen?: Readonly<Record<string, number>>;
}

export interface Observed extends Injected {
  readonly history: History;
  readonly healedMs: number;
}

/** A figure of a round, and its bar. The worst of all rounds counts. */
export interface Measure {
  readonly claim: string;
  readonly unit: 's' | '%' | 'count';
  /** At most, or at least where `isFloor` is set. */
  readonly limit: number;
  readonly isFloor?: boolean;
  readonly isTimed?: boolean;
  of(observed: Observed): number;
}

export interface ScenarioMutant {
  readonly name: string;
  /** To the service. */
  readonly edits?: readonly Edit[];
  /** To the files of deploy/ha. */
  readonly changes?: readonly Changes[];
}

export interface Scenario {
  /** Rounds of the long form. */
  readonly times: number;
  readonly cluster?: Pick<MachineOptions, 'hasVolumes' | 'hasClocks'>;
  readonly store?: Pick<StoreOptions, 'env' | 'secondServePlace' | 'clockOffsets' | 'hasSpare'>;
  /** Writes and reads per second, if the scenario sends most of its load itself. */
  readonly load?: { readonly writes: number; readonly reads: number };
  /** Before the store starts; undone by `restore`. */
  prepare?(cluster: Cluster): Promise<void>;
  restore?(cluster: Cluster): Promise<void>;
  /** Makes the fault under load, and returns when it may be healed. */
  inject(context: FaultContext): Promise<Injected>;
  readonly measures: readonly Measure[];
  readonly mutant?: ScenarioMutant;
}

export function holds({ limit, isFloor = false }: Measure, figure: number): boolean {
  return isFloor ? figure >= limit : figure <= limit;
}
