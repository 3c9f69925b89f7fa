import { createInterface } from 'node:readline';
import { styleText } from 'node:util';
import { printable, printableJson } from '../../platform/characters.ts';
import { fittedTable, plainTable, type Row, recordLines, relativeTime, type Screen, type Style, wrapWords } from './table.ts';

/** A mistake in the command line that commander can't detect. */
export class UsageError extends Error {}

/** The operator was asked, and said no. */
export class Declined extends Error {}

/** The width of a terminal that does not tell it. */
const usualWidth = 80;

/** Prints lines of text. Stored text may contain control characters, which are escaped so that the terminal does not act on them. */
export function printLines(...lines: readonly string[]): void {
  for (const line of lines) console.log(wrapped(printable(line), process.stdout));
}

/** Prints one line to standard error, apart from the command's result. */
export function printProblem(text: string): void {
  const line = wrapped(`homeward: ${printable(text)}`, process.stderr);
  console.error(line.replace('homeward:', (name) => styled('red', name, process.stderr)));
}

/** Prints one line about the run, not its result: to standard error, and only if that is a terminal. */
export function printNote(text: string): void {
  if (process.stderr.isTTY) console.error(styled('dim', text, process.stderr));
}

/** Prints one JSON value, on one line unless it is indented. Ids stay exact: a store may choose ids of categories beyond 2^53. */
export function printJson(value: unknown, indent?: number): void {
  console.log(printableJson(JSON.stringify(value, (_, one) => (typeof one === 'bigint' ? rawJSON(String(one)) : one), indent)));
}

/** Not declared by TypeScript yet. */
const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };

/**
 * Prints a table for people, or `ifEmpty` if there are no rows. On a terminal it fits the width: the columns in `leastImportant` are
 * left out first, in this order. The words of the columns `state` and `status` have colours.
 */
export function printTable(
  rows: readonly Row[],
  ifEmpty: string,
  { leastImportant = [] }: { leastImportant?: readonly string[] } = {},
): void {
  if (rows.length === 0) printLines(ifEmpty);
  // Their cells are escaped already. Escaping the lines would escape the colours.
  else for (const line of process.stdout.isTTY ? fittedTable(rows, currentScreen(), leastImportant) : plainTable(rows)) console.log(line);
}

/** Prints one thing with all its values, a line for each. Null and undefined values are left out. */
export function printRecord(row: Row): void {
  for (const line of recordLines(row, process.stdout.isTTY ? currentScreen() : undefined)) console.log(line);
}

/** Prints what is drawn for the width and the colours of standard output. The drawing escapes stored text: `paint` does so. */
export function printDrawing(draw: (screen: Screen) => readonly string[]): void {
  for (const line of draw(currentScreen())) console.log(line);
}

/** The options of a command that asks. */
export interface ConfirmOptions {
  readonly yes?: boolean | undefined;
  readonly json?: boolean | undefined;
}

/**
 * Asks before an act that can't be undone. Shows what it is about. Asks only on a terminal: elsewhere, with --json and with --yes,
 * the act is done at once. Anything but y, including Ctrl-C, throws `Declined`.
 */
export async function confirm(target: string, question: string, { yes, json }: ConfirmOptions): Promise<void> {
  if (yes || json || !process.stdin.isTTY || !process.stderr.isTTY) return;
  console.error(styled('bold', target, process.stderr));
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const reply = await new Promise<string | undefined>((resolve) => {
    // Ctrl-C and Ctrl-D close it.
    terminal.once('close', () => resolve(undefined));
    terminal.question(`${question} [y/N] `, resolve);
  });
  if (reply === undefined) console.error();
  terminal.close();
  if (!/^y(es)?$/i.test(reply?.trim() ?? '')) throw new Declined('Nothing was changed.');
}

/** A time within a sentence: "3 min ago" on a terminal, complete elsewhere. */
export const timeText = (at: Date): string => (process.stdout.isTTY ? relativeTime(at, Date.now()) : at.toISOString());

/** The text in this style where the stream shows colours; control characters in it are escaped. */
export const styled = (style: Style, text: string, stream: NodeJS.WriteStream): string => styleText(style, printable(text), { stream });

/** On a terminal, a sentence that is too long for one line breaks between words. An indented line stays whole: it is to be copied. */
function wrapped(line: string, stream: NodeJS.WriteStream): string {
  if (!stream.isTTY || line.startsWith(' ')) return line;
  return wrapWords(line, stream.columns || usualWidth).join('\n');
}

/** The terminal that standard output is. */
export const currentScreen = (): Screen => ({
  widthMax: process.stdout.columns || usualWidth,
  nowMs: Date.now(),
  paint: (style, text) => styled(style, text, process.stdout),
});

const width = 40;

/** Draws a progress bar on a terminal. Draws nothing if standard error is not a terminal. */
export function drawBar(done: number, of: number): void {
  const share = done / Math.max(of, 1);
  const filled = Math.round(share * width);
  draw(`[${'#'.repeat(filled)}${'.'.repeat(width - filled)}] ${Math.floor(share * 100)}%`);
}

/** Shows a count, for work whose total is unknown. */
export const drawCount = (done: number): void => draw(`${done} …`);

/** Shows what is waited for. */
export const drawText = (text: string): void => draw(text);

export const endProgress = (): void => draw('');

function draw(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`);
}

/** `Biscuit (12)`: people know the name, commands take the id. The id alone if there is no name. */
export const named = (name: string | undefined, id: bigint): string => (name === undefined ? String(id) : `${name} (${id})`);
