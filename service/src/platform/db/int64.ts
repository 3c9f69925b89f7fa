export const int64Min = -(2n ** 63n);
export const int64Max = 2n ** 63n - 1n;

/** Parses an id from a path or a query: decimal, without a plus sign or leading zeros. */
export function parseInt64(text: string): bigint | undefined {
  if (!/^-?(0|[1-9][0-9]{0,18})$/.test(text)) return undefined;
  const value = BigInt(text);
  return value >= int64Min && value <= int64Max ? value : undefined;
}

/** Parses a double as JavaScript writes it. Undefined for any other text, also for a number that is out of range. */
export function parseDouble(text: string): number | undefined {
  const value = Number(text);
  return Number.isFinite(value) && String(value) === text ? value : undefined;
}

/** The same for a number of PostgreSQL's type real, which rejects a number that is too large or too close to 0 for it. */
export function parseReal(text: string): number | undefined {
  const value = parseDouble(text);
  if (value === undefined || value === 0) return value;
  const rounded = Math.fround(value);
  return Number.isFinite(rounded) && rounded !== 0 ? value : undefined;
}
