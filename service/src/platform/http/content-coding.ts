import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

/** The content codings, the preferred one first. */
export const codings = ['br', 'gzip'] as const;
export type Coding = (typeof codings)[number];

/** Less than this fits into one packet anyway. */
const bytesMin = 1_024;

/** The coding for a response to a caller that sent this Accept-Encoding. Undefined: the plain bytes. */
export const codingFor = (acceptEncoding: string | undefined, bytes: number): Coding | undefined =>
  acceptEncoding === undefined || bytes < bytesMin ? undefined : chooseCoding(acceptEncoding);

/**
 * The coding with the highest weight in an Accept-Encoding header (RFC 9110, section 12.5.3). Parts of it that are malformed are
 * ignored. If the caller accepts nothing that we have, not even plain bytes, it gets plain bytes: better than an error.
 */
export function chooseCoding(acceptEncoding: string): Coding | undefined {
  const weights = new Map<string, number>();
  for (const part of acceptEncoding.toLowerCase().split(',')) {
    const [, name, weight = '1'] = preference.exec(part) ?? [];
    // If a coding is given twice, the lower weight counts.
    if (name !== undefined) weights.set(name, Math.min(Number(weight), weights.get(name) ?? 1));
  }
  const weightOf = (name: string) => weights.get(name) ?? weights.get('*') ?? 0;
  const [first, second] = codings;
  const best = weightOf(second) > weightOf(first) ? second : first;
  return weightOf(best) > 0 && weightOf(best) >= (weights.get('identity') ?? 0) ? best : undefined;
}

/** One part of Accept-Encoding, in lower case: a coding or `*`, and its weight. Linear time: no two parts match the same character. */
const preference = /^[ \t]*([\w!#$%&'*+.^`|~-]+)[ \t]*(?:;[ \t]*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)[ \t]*)?$/;

/** How thorough to be: for one response, or for content that is compressed once and sent many times. */
export type Effort = 'fast' | 'best';

// Quality 11 takes three times as long as 10, and saves 3 %.
const brotliQualities = { fast: 5, best: 10 };
const gzipLevels = { fast: 6, best: constants.Z_BEST_COMPRESSION };

/** Compresses on a thread of the pool, not in the event loop. */
export function compress(content: string | Buffer, coding: Coding, effort: Effort): Promise<Buffer> {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  if (coding === 'gzip') return gzipAsync(bytes, { level: gzipLevels[effort] });
  return brotliAsync(bytes, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: brotliQualities[effort],
      [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    },
  });
}

const gzipAsync = promisify(gzip);
const brotliAsync = promisify(brotliCompress);
