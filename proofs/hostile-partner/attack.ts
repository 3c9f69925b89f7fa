import type { HttpClient, Response } from '../../testkit/http.ts';
import type { Samples } from '../../testkit/listing-searches.ts';

/** The keys of one client with the Business plan. */
export interface HostileKeys {
  readonly clientId: number;
  /** With the default scopes. */
  readonly partner: string;
  /** With the scope shelter:manage, for the hostile shelter. */
  readonly shelter: string;
  /** With the scope store:manage. */
  readonly staff: string;
}

/** The store under attack, and what the hostile partner has there. */
export interface Target {
  /** One for each process; ends in /v1. */
  readonly urls: readonly string[];
  readonly metricsPorts: readonly number[];
  /** By attack, so that no attack uses up the requests of another. */
  readonly keys: Readonly<Record<string, HostileKeys>>;
  /** Of a client with the Free plan. */
  readonly freeKey: string;
  readonly revokedKey: string;
  readonly samples: Samples;
  readonly shelterId: number;
  /** Animals of the hostile shelter. */
  readonly petIds: readonly number[];
  /** Those whose descriptions are as large as descriptions may be. */
  readonly largePetIds: readonly number[];
  /** The path of a large picture. */
  readonly picture: string;
}

export interface Step {
  readonly http: HttpClient;
  readonly target: Target;
  readonly keys: HostileKeys;
  /** The number of the step, counted over all phases. */
  readonly index: number;
  readonly stopping: AbortSignal;
}

/** Sends the same kind of request at a steady rate, without waiting for responses. */
export interface Load {
  readonly perSecond: number;
  /** How many are sent at the same moment; 1 unless given. */
  readonly atOnce?: number;
  /** Costs the client none of its requests. */
  readonly isFree?: boolean;
  /** Undefined if there was no response. */
  step(step: Step): Promise<Response | undefined>;
}

export type Attack = Readonly<Record<string, Load>>;

export const urlOf = ({ urls }: Target, index: number): string => urls[index % urls.length] ?? '';

/** Each animal gets a request at each process. */
export const petOf = ({ petIds, urls }: Target, index: number): number => petIds[Math.floor(index / urls.length) % petIds.length] ?? 0;
