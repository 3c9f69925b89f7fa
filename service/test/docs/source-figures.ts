// Fills figures into texts from the source code, so that a document can be compared with it.
import { readFileSync } from 'node:fs';

const units: Readonly<Record<string, (value: number) => string>> = {
  n: (value) => value.toLocaleString('en'),
  plain: String,
  ms: (value) => `${value.toLocaleString('en')} ms`,
  s: (value) => `${value / 1_000} s`,
  sec: (value) => String(value / 1_000),
  min: (value) => String(value / 60_000),
  h: (value) => String(value / 3_600_000),
  KiB: (value) => `${value / 1_024} KiB`,
  kB: (value) => `${Math.round(value / 1_024)} kB`,
  MB: (value) => `${value / 1_000_000} MB`,
  GB: (value) => `${value / 1_000_000_000} GB`,
  million: (value) => String(value / 1_000_000),
  MiB: (value) => `${value / 1_048_576} MiB`,
  hours: (value) => `${value / 3_600} hours`,
  days: (value) => `${value / 86_400} days`,
};

/**
 * Files are below service/src, or of the SDK. Replaces each `{name unit}` by the number that one of the files gives that name, as in `const name = 1_000` or
 * `name: 1_000`, and each `{/pattern/ unit}` by the pattern's first group. The unit is `n` unless it is given.
 */
export function fillFigures(template: string, files: readonly string[]): string {
  const sources = files.map((file) =>
    readFileSync(new URL(file.startsWith('sdk/') ? `../../../${file}` : `../../src/${file}`, import.meta.url), 'utf8'),
  );
  return template.replace(/\{(\/.+?\/|\w+)(?: (\w+))?\}/g, (placeholder, what: string, unit = 'n') => {
    const pattern = what.startsWith('/') ? new RegExp(what.slice(1, -1)) : new RegExp(`\\b${what}(?: = |: )([\\d_ *]+)`);
    const found = sources.flatMap((source) => pattern.exec(source)?.[1] ?? []);
    const [text] = found;
    if (text === undefined) throw new Error(`${placeholder} is in none of ${files.join(', ')}`);
    const value = text
      .replaceAll('_', '')
      .split('*')
      .reduce((product, factor) => product * Number(factor), 1);
    const format = units[unit];
    if (!format) throw new Error(`${placeholder} has an unknown unit`);
    return format(value);
  });
}
