// Whether an answer that a guide shows is the one that really came.
import type { Block } from './fenced-blocks.ts';

export const isResponse = ({ language }: Block): boolean => ['json', 'http', 'text'].includes(language);

/** What is wrong with what is shown; empty: nothing. `output` is what the command printed. */
export function faultsOf(shown: Block, output: string): string[] {
  if (shown.language === 'http') return faultsOfResponse(readResponse(shown.text), readResponse(output));
  if (shown.language === 'json') JSON.parse(shown.text);
  const [expected, came] = [normalise(shown.text), normalise(output)];
  return came === expected ? [] : [`shown is ${expected}, and what came is ${came}`];
}

/** Of what never ends, a guide shows how it begins. */
export const beginsAs = (shown: Block, output: string): boolean => normalise(output).startsWith(normalise(shown.text));

/** Times, secrets and places in the feed differ from run to run. */
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
  /** Empty: none is shown. */
  readonly body: string;
}

/** As `curl -i` prints it, and as a guide shows it. */
export function readResponse(text: string): Response {
  const [head = '', ...body] = text.replaceAll('\r', '').split('\n\n');
  const [status = '', ...lines] = head.trim().split('\n');
  const headers = new Map(lines.map((line) => [line.split(':', 1)[0]?.toLowerCase() ?? '', line.slice(line.indexOf(':') + 1).trim()]));
  return { status, headers, body: body.join('\n\n').trim() };
}

/** A guide may leave out headers and the body, but what it shows must be so. */
export function faultsOfResponse(shown: Response, came: Response, readAs = normalise): string[] {
  const lines = (response: Response, names: Iterable<string>) => [...names].map((name) => `${name}: ${response.headers.get(name)}`);
  const pairs = [
    [shown.status, came.status],
    [lines(shown, shown.headers.keys()).join('\n'), lines(came, shown.headers.keys()).join('\n')],
    [shown.body, shown.body === '' ? '' : came.body],
  ];
  return pairs
    .map((pair) => pair.map((text) => readAs(text)))
    .filter(([expected, actual]) => expected !== actual)
    .map(([expected, actual]) => `shown is ${expected}, and what came is ${actual}`);
}
