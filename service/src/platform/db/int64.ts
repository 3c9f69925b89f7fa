export const int64Min = -(2n ** 63n);
export const int64Max = 2n ** 63n - 1n;

/** Parses an id from a path or a query: decimal, without a plus sign or leading zeros. */
export function parseInt64(text: string): bigint | undefined {
  if (!/^-?(0|[1-9][0-9]{0,18})$/.test(text)) return undefined;
  const value = BigInt(text);
  return value >= int64Min && value <= int64Max ? value : undefined;
}
