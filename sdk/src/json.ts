const stringOrLongInteger = /"(?:[^"\\]|\\.)*"|-?\d{16,}(?![\d.eE])/g;
/** No response of a store has a field of this name. */
const exactly = '\u0000';

/** Like JSON.parse, but integers beyond 2^53 become bigints. Doesn't need the reviver's `context.source`, which older runtimes lack. */
export function parseJson(text: string): unknown {
  if (!/\d{16}/.test(text)) return JSON.parse(text);
  const marked = text.replace(stringOrLongInteger, (token) =>
    token.startsWith('"') || Number.isSafeInteger(Number(token)) ? token : `{"\\u0000":"${token}"}`,
  );
  return JSON.parse(marked, (_, value) => (typeof value?.[exactly] === 'string' ? BigInt(value[exactly]) : value));
}

/** Like JSON.stringify, but it writes bigints and throws on integers that were rounded. */
export function writeJson(value: unknown): string {
  if (typeof value === 'bigint' || typeof value === 'number') return exactText(value);
  if (Array.isArray(value)) return `[${value.map(writeJson).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const given = Object.entries(value).filter(([, field]) => field !== undefined);
  return `{${given.map(([name, field]) => `${JSON.stringify(name)}:${writeJson(field)}`).join()}}`;
}

/** An id as text. A number beyond 2^53 has been rounded already and may be the id of another animal, so it throws. */
export function exactText(value: number | bigint): string {
  if (typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER) {
    throw new RangeError(`${value} is too large for an exact number. Pass a bigint, such as 9007199254740993n.`);
  }
  return String(value);
}
