import type { Command } from 'commander';
import { parseId, printLines, UsageError } from './output.ts';

const limitMax = 1_000;
const limitDefault = 100;

export interface ListOptions {
  readonly after?: string;
  readonly limit?: string;
  readonly json?: boolean;
}

export const addListOptions = (command: Command, what: string): Command =>
  command
    .option('--after <id>', `only ${what} with a higher id, to go on after the last one of a list`)
    .option('--limit <n>', `at most this many, up to ${limitMax} (default: ${limitDefault})`)
    .option('--json', 'print one JSON array');

/** One row more than `limit` is read, to see whether more follow. */
export function readListOptions({ after, limit = String(limitDefault) }: ListOptions): { afterId: bigint; limit: number } {
  const count = /^\d{1,4}$/.test(limit) ? Number(limit) : 0;
  if (count < 1 || count > limitMax) throw new UsageError(`--limit must be an integer from 1 to ${limitMax}; got "${limit}".`);
  return { afterId: after === undefined ? 0n : parseId(after), limit: count };
}

/** Says how to go on if more rows follow. `command` includes the filters. */
export function printNextPageHint(command: string, shown: ReadonlyArray<{ readonly id: bigint }>, found: readonly unknown[]): void {
  const last = shown.at(-1);
  if (last && found.length > shown.length) printLines('', `More follow: ${command} --after ${last.id}`);
}

/** As one word of a shell. */
export const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

export function readChoice<T extends string>(option: string, text: string, choices: readonly T[]): T {
  const choice = choices.find((one) => one === text);
  if (choice === undefined) throw new UsageError(`${option} must be one of ${choices.join(', ')}; got "${text}".`);
  return choice;
}
