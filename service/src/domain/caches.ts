/**
 * Says which cached lists a request may get. A number counts the changes of the catalogue that this process has read from Redis. A
 * string is a snapshot of PostgreSQL, for requests that are decided without Redis.
 */
export type ListVersion = number | string;

/** What Redis holds for lists: each changes with what it is for. Undefined: there is none yet. */
export interface ListTokens {
  readonly catalogue: string | undefined;
  readonly listings: string | undefined;
}

/** How a cache of a process is used. */
export interface CacheState {
  readonly hits: number;
  readonly misses: number;
  readonly size: number;
  readonly bytes: number;
  readonly bytesMax: number;
}
