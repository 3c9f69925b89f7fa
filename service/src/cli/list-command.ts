import type { Command } from 'commander';
import type { Dependencies } from '../dependencies.ts';
import type { ReadConfig } from '../platform/config.ts';
import { parseId } from './option-values.ts';
import { printLines, printTable, UsageError } from './output.ts';
import { onStore, printsArray } from './store-command.ts';
import type { Row } from './table.ts';

export const limitMax = 1_000;

interface List<Listed extends { readonly id: bigint }, Options> {
  /** What is listed, such as `orders`. */
  readonly what: string;
  readonly limitDefault?: number;
  /** Printed if there are none at all. */
  readonly ifNone?: string;
  /** Reads those with a higher id than `afterId`, by id, with the filters that the options stand for. */
  find(
    dependencies: Dependencies,
    page: { readonly afterId: bigint; readonly limit: number },
    options: Options,
  ): Promise<{ readonly found: readonly Listed[]; readonly filters?: Readonly<Record<string, string | bigint | undefined>> }>;
  /** A row of the table. */
  columns(listed: Listed): Row;
  /** The columns that a narrow terminal leaves out first. */
  readonly leastImportant?: readonly string[];
}

/** Adds the options and the action of a command that lists, one page at a time: a table, or with --json an array. */
export function addListAction<Listed extends { readonly id: bigint }, Options>(
  command: Command,
  config: ReadConfig,
  { what, limitDefault = 100, ifNone = `There are no ${what}.`, find, columns, leastImportant = [] }: List<Listed, Options>,
): void {
  const read = (options: Options & { readonly after?: bigint; readonly limit?: number }) => async (dependencies: Dependencies) => {
    const { after: afterId = 0n, limit = limitDefault } = options;
    // One more than is shown, to see whether more follow.
    const { found, filters = {} } = await find(dependencies, { afterId, limit: limit + 1 }, options);
    const shown = found.slice(0, limit);
    const given = Object.entries(filters).flatMap(([name, value]) => (value === undefined ? [] : [` --${name} ${asWord(String(value))}`]));
    const text = () => {
      printTable(shown.map(columns), given.length > 0 || afterId > 0n ? `No ${what} match.` : ifNone, { leastImportant });
      const last = shown.at(-1);
      if (last && found.length > shown.length) printLines('', `More follow: ${pathOf(command)}${given.join('')} --after ${last.id}`);
    };
    return { json: shown, text };
  };
  command
    .option('--after <id>', `only ${what} with a higher id, to go on after the last one of a list`, parseId)
    .option('--limit <n>', `at most this many, up to ${limitMax} (default: ${limitDefault})`, readLimit);
  onStore(command, config, read, printsArray);
}

function readLimit(text: string): number {
  const count = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (count < 1 || count > limitMax) throw new UsageError(`--limit must be an integer from 1 to ${limitMax}; got "${text}".`);
  return count;
}

/** `homeward orders list`. */
const pathOf = (command: Command): string => (command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name());

const asWord = (text: string): string => (/^[\w.:-]+$/.test(text) ? text : quoted(text));

/** As one word of a shell. */
export const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
