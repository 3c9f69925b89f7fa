/** How a cache of a process is used. */
export interface CacheState {
  readonly hits: number;
  readonly misses: number;
  readonly size: number;
  readonly bytes: number;
  readonly bytesMax: number;
}
