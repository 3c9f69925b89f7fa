import { type HistogramName, metricTable } from './metric-table.ts';

/** Counts values by bucket. Plain numbers, since one is observed for each request: prom-client's own takes a microsecond. */
export class Histogram {
  readonly #bounds: readonly number[];
  /** By bucket; the last one is of values beyond all bounds. */
  readonly #counts: number[];
  #sum = 0;

  constructor(name: HistogramName) {
    this.#bounds = metricTable[name].buckets;
    this.#counts = Array.from({ length: this.#bounds.length + 1 }, () => 0);
  }

  observe(seconds: number): void {
    let bucket = 0;
    while (seconds > (this.#bounds[bucket] ?? Infinity)) bucket += 1;
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#sum += seconds;
  }

  /** As Prometheus wants them: each bucket includes those below it. */
  read(): { buckets: Array<{ le: string; count: number }>; sum: number; count: number } {
    let count = 0;
    const buckets = this.#counts.map((inBucket, i) => {
      count += inBucket;
      return { le: String(this.#bounds[i] ?? '+Inf'), count };
    });
    return { buckets, sum: this.#sum, count };
  }
}
