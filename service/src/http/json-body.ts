import { isUtf8 } from 'node:buffer';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import secureJson from 'secure-json-parse';
import { AppError } from '../errors.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The bytes of the body as they came; null: there is no Idempotency-Key to compare them for. */
    rawBody: Buffer | null;
  }
}

const depthMax = 64;

/** JSON is the one type of body that is accepted. */
export function addJsonBodies(app: FastifyInstance): void {
  app.decorateRequest('rawBody', null);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) => {
    if (request.headers['idempotency-key'] !== undefined) request.rawBody = body;
    return parseJsonBody(body);
  });
}

/**
 * Parses a request's JSON without rounding: an integer written out with 16 digits or more becomes a BigInt. Whether a
 * field takes one is the schema's matter.
 */
export function parseJsonBody(bytes: Buffer): unknown {
  // No body at all: whether one is needed is the schema's matter too.
  if (bytes.length === 0) return undefined;
  if (!isUtf8(bytes)) throw new AppError('invalid_json', 'The body is not valid UTF-8.');
  const text = bytes.toString('utf8');
  if (isNestedDeeper(text, depthMax)) throw new AppError('invalid_json', `The body is nested more than ${depthMax} levels deep.`);
  try {
    // The reviver is only needed, and only paid for, where a number could be too long or too small for a double.
    return /[\d.]{16}|\de-/i.test(text) ? secureJson.parse(text, exactIntegers as Reviver) : secureJson.parse(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'unknown';
    throw new AppError('invalid_json', `The body is not valid JSON: ${reason.slice(0, 120)}.`, { cause: error });
  }
}

type Reviver = (key: string, value: unknown) => unknown;

function exactIntegers(_: string, value: unknown, { source = '' }: { source?: string }): unknown {
  if (typeof value !== 'number') return value;
  if (/^-?\d{16,400}$/.test(source)) return BigInt(source);
  // What rounding alone has made an integer is none.
  return Number.isInteger(value) && !isIntegerAsWritten(source) ? Number.NaN : value;
}

/** Counted by hand, since a pattern for the last digit that isn't 0 would take quadratic time. */
function isIntegerAsWritten(source: string): boolean {
  const [, whole = '', fraction = '', exponent = '0'] = /^-?(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(source) ?? [];
  const digits = whole + fraction;
  let significant = digits.length;
  while (digits[significant - 1] === '0') significant -= 1;
  return significant === 0 || significant - whole.length <= Number(exponent);
}

function isNestedDeeper(text: string, max: number): boolean {
  let depth = 0;
  let inString = false;
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (inString) {
      if (code === 0x5c) i += 1;
      else if (code === 0x22) inString = false;
    } else if (code === 0x22) inString = true;
    else if (code === 0x5b || code === 0x7b) {
      depth += 1;
      if (depth > max) return true;
    } else if (code === 0x5d || code === 0x7d) depth -= 1;
  }
  return false;
}
