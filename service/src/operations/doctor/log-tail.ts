import { open } from 'node:fs/promises';
import { withoutValues } from './redaction.ts';

const tailBytes = 4_194_304;
const linesMax = 50;
const stackLinesMax = 8;
const lineCharsMax = 2_000;
const warnLevel = 40;
const levels: Readonly<Record<number, string>> = { 40: 'warning', 50: 'error', 60: 'fatal' };

/** Fields that say what happened and hold no data of a caller, unlike `url`. */
const plainFields = ['msg', 'job', 'reason', 'route', 'status', 'ms', 'reqId', 'webhook', 'client', 'code'] as const;

/** The last warnings and errors of a log, from the last megabytes of the file. Lines that are not of the log are left out. */
export async function readLastErrors(file: string): Promise<string[]> {
  await using opened = await open(file, 'r');
  const { size } = await opened.stat();
  const bytes = Buffer.alloc(Math.min(size, tailBytes));
  const { bytesRead } = await opened.read(bytes, 0, bytes.length, Math.max(size - tailBytes, 0));
  return bytes.toString('utf8', 0, bytesRead).split('\n').flatMap(readLine).slice(-linesMax);
}

function readLine(line: string): string[] {
  const entry = parse(line);
  if (!entry || typeof entry['level'] !== 'number' || entry['level'] < warnLevel) return [];
  const at = new Date(Number(entry['time']));
  const fields = plainFields.flatMap((name) => (entry[name] === undefined ? [] : [`${name}=${withoutValues(shown(entry[name]))}`]));
  const { type, message, code, stack } = (entry['err'] ?? {}) as Readonly<Record<string, unknown>>;
  const error = message === undefined ? [] : [`err=${[type, code, withoutValues(shown(message))].filter(Boolean).join(' ')}`];
  // Without the message, which may have several lines.
  const frames = typeof stack === 'string' ? stack.split('\n').filter((frame) => /^\s+at /.test(frame)) : [];
  return [
    [
      `${Number.isNaN(at.getTime()) ? '-' : at.toISOString()} ${levels[entry['level']] ?? entry['level']} ${[...fields, ...error].join(' ')}`,
      ...frames.slice(0, stackLinesMax),
    ]
      .map((text) => text.slice(0, lineCharsMax))
      .join('\n'),
  ];
}

/** Anyone could have written the line. */
const shown = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));

function parse(line: string): Record<string, unknown> | undefined {
  try {
    const entry: unknown = JSON.parse(line);
    return typeof entry === 'object' && entry !== null ? (entry as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
