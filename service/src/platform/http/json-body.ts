import { isUtf8 } from 'node:buffer';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import secureJson from 'secure-json-parse';
import { AppError } from '../errors.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The body as received, for comparison with other requests of the same Idempotency-Key; null without one. */
    rawBody: Buffer | null;
  }
}

export const mergePatchType = 'application/merge-patch+json';

const depthMax = 64;

/** Accepts only JSON bodies. Every PATCH is a merge patch (RFC 7396): what is left out stays, and null removes what can be removed. */
export function addJsonBodies(app: FastifyInstance): void {
  app.decorateRequest('rawBody', null);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) => {
    if (request.headers['idempotency-key'] !== undefined) request.rawBody = body;
    return parseJsonBody(body);
  });
  app.addContentTypeParser(mergePatchType, { parseAs: 'buffer' }, async ({ method }: FastifyRequest, body: Buffer) => {
    if (method !== 'PATCH') {
      throw new AppError('unsupported_media_type', `This operation takes no ${mergePatchType}: send 'Content-Type: application/json'.`);
    }
    return parseJsonBody(body);
  });
}

/**
 * Parses JSON without rounding integers: one with 16 digits or more becomes a BigInt. The schema decides whether a field
 * accepts it.
 */
export function parseJsonBody(bytes: Buffer): unknown {
  // No body. The schema decides whether one is required.
  if (bytes.length === 0) return undefined;
  if (!isUtf8(bytes)) throw new AppError('invalid_json', 'The body is not valid UTF-8.');
  const text = bytes.toString('utf8');
  if (isNestedDeeper(text, depthMax)) throw new AppError('invalid_json', `The body is nested more than ${depthMax} levels deep.`);
  try {
    // The slow reviver is only needed if a number may not fit into a double.
    return /[\d.]{16}|\de-/i.test(text) ? secureJson.parse(text, exactIntegers as Reviver) : secureJson.parse(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'unknown';
    throw new AppError('invalid_json', `The body is not valid JSON: ${reason.slice(0, 120)}.${adviseOnJson(text, reason)}`, {
      cause: error,
    });
  }
}

type Reviver = (key: string, value: unknown) => unknown;

function exactIntegers(_: string, value: unknown, { source = '' }: { source?: string }): unknown {
  if (typeof value !== 'number') return value;
  if (/^-?\d{16,400}$/.test(source)) return BigInt(source);
  // NaN for a number that is only an integer because it was rounded: the schema rejects it.
  return Number.isInteger(value) && !isIntegerAsWritten(source) ? Number.NaN : value;
}

/** Counts digits in a loop: a regular expression for trailing zeros would take quadratic time. */
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

/** How much of the text is looked at before and behind the fault. */
const contextLength = 60;
/** V8 names the character, with some text around it, where it names no position. */
const quotedText = /^Unexpected token '(.)'(?:, (?:\.\.\.)?"(.*?)"(?:\.\.\.)? is not valid JSON)?/s;

/** Says how to correct the usual faults of JSON that was written by hand or by a shell. Empty: the fault is another one. */
function adviseOnJson(text: string, reason: string): string {
  const { fault, before, after } = findFault(text, reason);
  const mistake = mistakes.find((one) => one.is({ fault, before, after, reason, text: text.slice(0, contextLength) }));
  return mistake ? ` ${mistake.advice}` : '';
}

interface Fault {
  /** The character that was not expected. */
  readonly fault: string;
  readonly before: string;
  /** From the fault on. */
  readonly after: string;
  /** Where the body begins. */
  readonly text: string;
  readonly reason: string;
}

const mistakes: ReadonlyArray<{ is(fault: Fault): boolean; advice: string }> = [
  { is: ({ text }) => /^[\w.%+[\]-]+=/.test(text), advice: 'It is the data of a form. Send {"name":"value"} in place of name=value.' },
  { is: ({ text }) => /^(--|<)/.test(text), advice: 'It is a form or XML. Send a JSON object.' },
  {
    is: ({ reason, after }) => /end of JSON input|Unterminated string/.test(reason) || (/ at position /.test(reason) && after === ''),
    advice: 'It is cut off: a quote or a bracket is missing at its end.',
  },
  { is: ({ fault, before }) => /[}\]]/.test(fault) && /,\s*$/.test(before), advice: 'Remove the comma before the closing bracket.' },
  { is: ({ fault }) => /['\u2018-\u201f`]/.test(fault), advice: 'Put names and texts in double quotes ("), not in others.' },
  { is: ({ after }) => /^(True|False|None|undefined|NaN)\b/.test(after), advice: 'JSON has true, false and null, in lower case.' },
  { is: ({ after }) => /^\/[/*]/.test(after), advice: 'JSON has no comments.' },
  { is: ({ fault, before }) => /[\w$]/.test(fault) && /[{,]\s*$/.test(before), advice: 'Put names in double quotes.' },
  { is: ({ fault, before }) => /[a-z_]/i.test(fault) && /[:[]\s*$/.test(before), advice: 'Put texts in double quotes.' },
  { is: ({ reason }) => /after JSON/.test(reason), advice: 'Send one object, and nothing after it.' },
  { is: ({ reason, fault }) => /control character/.test(reason) && /[\r\n]/.test(fault), advice: 'Write a line break in a text as \\n.' },
  { is: ({ fault, before }) => fault === '"' && /[\w"\]}]\s*$/.test(before), advice: 'A comma is missing before it.' },
];

function findFault(text: string, reason: string): Pick<Fault, 'fault' | 'before' | 'after'> {
  const position = positionOf(text, reason);
  const at = (from: number, to: number) => text.slice(Math.max(from, 0), to);
  if (position === undefined) return { fault: '', before: '', after: '' };
  return { fault: text[position] ?? '', before: at(position - contextLength, position), after: at(position, position + contextLength) };
}

/** Undefined: the reason does not say where. */
function positionOf(text: string, reason: string): number | undefined {
  const [, position] = / at position (\d+)/.exec(reason) ?? [];
  if (position !== undefined) return Number(position);
  const [, fault = '', around = ''] = quotedText.exec(reason) ?? [];
  const start = around === '' ? -1 : text.indexOf(around);
  if (fault === '' || start < 0) return undefined;
  // Ten characters stand before the fault, or fewer at the beginning.
  const index = around.indexOf(fault, reason.includes('..."') ? shownBefore : 0);
  return index < 0 ? undefined : start + index;
}

const shownBefore = 10;
