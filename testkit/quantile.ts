/** The value that the fraction `q` of all is not above: a value that was measured, never one between two. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(Math.ceil(sorted.length * q) - 1, 0)] ?? Number.NaN;
}
