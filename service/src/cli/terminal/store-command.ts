import { type Command, Option } from 'commander';
import { type Dependencies, openDependencies } from '../../dependencies.ts';
import type { ReadConfig } from '../../platform/config.ts';
import { AppError } from '../../platform/errors.ts';
import { printJson, printLines, printTable, UsageError } from './output.ts';
import type { Row } from './table.ts';

/** What a command has found or done. */
export interface CommandResult {
  /** Printed with --json. */
  readonly json: unknown;
  /** Else these lines are printed, or what the function prints. */
  readonly text: string | readonly string[] | (() => void);
}

type Run = (dependencies: Dependencies) => Promise<CommandResult>;

/** What --json does in a command that lists. */
export const printsArray = 'print one JSON array';
/** For commands that can't be undone: see `confirm`. */
export const yesOption = ['--yes', 'do not ask on a terminal'] as const;

/**
 * Adds --json and the action to a command that uses the store. `read` gets the arguments and the options, and throws before anything is
 * opened if they are wrong. What it returns does the work. An error that the API would return to a caller is a mistake of the operator here.
 */
export function onStore<Args extends readonly unknown[]>(
  command: Command,
  config: ReadConfig,
  read: (...args: Args) => Run | Promise<Run>,
  aboutJson = 'print one JSON object',
): void {
  command.option('--json', aboutJson).action(async (...args: unknown[]): Promise<void> => {
    const run = await read(...(args as unknown as Args));
    await using dependencies = await openDependencies(config());
    const { json, text } = await run(dependencies).catch((error: unknown) => {
      throw error instanceof AppError && error.status < 500 ? new UsageError(error.message) : error;
    });
    if (command.opts()['json']) printJson(json);
    else if (typeof text === 'function') text();
    else printLines(...[text].flat());
  });
}

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

// What the texts of arguments and options stand for. Each throws a UsageError before the command begins.

const units = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** Parses '90d', '12h', '30m' or '45s' into seconds. */
export function parseDuration(text: string): number {
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  if (!count || !unit) throw new UsageError(`"${text}" is not a duration; write 90d, 12h, 30m or 45s.`);
  return Number(count) * units[unit as keyof typeof units];
}

export function parseId(text: string): bigint {
  if (!/^[1-9]\d{0,15}$/.test(text)) throw new UsageError(`"${text}" is not an id.`);
  return BigInt(text);
}

export function parseCount(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new UsageError(`"${text}" is not a count from 1 to 999999999.`);
  return Number(text);
}

/** An option with one of these values, which the help and the completion list. Its message is like those of other options. */
export function choiceOption(flags: string, description: string, choices: readonly string[]): Option {
  const option = new Option(flags, description).choices(choices);
  return option.argParser((text) => {
    if (choices.includes(text)) return text;
    throw new UsageError(`${option.long} must be one of ${choices.join(', ')}; got "${text}".`);
  });
}
