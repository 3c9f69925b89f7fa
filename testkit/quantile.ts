/** The `q`-quantile without interpolation: always one of the measured values. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(Math.ceil(sorted.length * q) - 1, 0)] ?? Number.NaN;
}
