// Compares the responses that the guides show with the actual ones.
import type { Block } from './fenced-blocks.ts';

export const isResponse = ({ language }: Block): boolean => ['json', 'http', 'text'].includes(language);

/** The differences between the shown response and the output of the command; empty if there are none. */
export function faultsOf(shown: Block, output: string): string[] {
  if (shown.language === 'http') return faultsOfResponse(readResponse(shown.text), readResponse(output));
  if (shown.language === 'json') JSON.parse(shown.text);
  const [expected, actual] = [normalise(shown.text), normalise(output)];
  return actual === expected ? [] : [`shown is ${expected}, actual is ${actual}`];
}

/** For endless output a guide shows only the start. */
export const beginsAs = (shown: Block, output: string): boolean => normalise(output).startsWith(normalise(shown.text));

/** Replaces times, secrets and cursors, which differ from run to run. */
export const normalise = (text: string): string =>
  text
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, '(time)')
    .replace(/^(x-ratelimit-reset: )\d+$/gm, '$1(time)')
    .replace(/\d\d:\d\d:\d\d UTC/g, '(time)')
    .replace(/whsec_[\w+/=…]+/g, '(secret)')
    .replace(/(\/v1\/events\?\S*cursor=)[\w-]+/g, '$1(cursor)')
    .replace(/^id: \S+$/gm, 'id: (cursor)')
    .trim();

export interface Response {
  readonly status: string;
  readonly headers: ReadonlyMap<string, string>;
  /** Empty if none is shown. */
  readonly body: string;
}

/** Parses a response in the format of `curl -i`, which the guides use too. */
export function readResponse(text: string): Response {
  const [head = '', ...body] = text.replaceAll('\r', '').split('\n\n');
  const [status = '', ...lines] = head.trim().split('\n');
  const headers = new Map(lines.map((line) => [line.split(':', 1)[0]?.toLowerCase() ?? '', line.slice(line.indexOf(':') + 1).trim()]));
  return { status, headers, body: body.join('\n\n').trim() };
}

/** A guide may omit headers and the body, but what it shows must be correct. */
export function faultsOfResponse(shown: Response, actual: Response, readAs = normalise): string[] {
  const lines = (response: Response, names: Iterable<string>) => [...names].map((name) => `${name}: ${response.headers.get(name)}`);
  const pairs = [
    [shown.status, actual.status],
    [lines(shown, shown.headers.keys()).join('\n'), lines(actual, shown.headers.keys()).join('\n')],
    [shown.body, shown.body === '' ? '' : actual.body],
  ];
  return pairs
    .map((pair) => pair.map((text) => readAs(text)))
    .filter(([expected, got]) => expected !== got)
    .map(([expected, got]) => `shown is ${expected}, actual is ${got}`);
}
