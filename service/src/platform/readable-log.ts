import { styleText } from 'node:util';
import { printable } from './characters.ts';

/**
 * A line of the log for people on a terminal, such as `12:00:00  200  GET /v1/pets  3 ms`. A line that is not JSON stays as it is.
 * Undefined if it is older than `sinceMs`. Control characters are escaped: a caller's path may contain some.
 */
export function readableLogLine(line: string, sinceMs = 0): string | undefined {
  const entry = parse(line);
  if (!entry) return printable(line);
  const { level = 30, time = 0, msg = '', pid, hostname, reqId, err, ...rest } = entry;
  if (time < sinceMs) return undefined;
  const at = styleText('dim', new Date(time).toTimeString().slice(0, 8));
  if (msg === 'request') return `${at}  ${describeRequest(rest)}`;
  const word = (levels[level] ?? String(level)).padEnd(5);
  const more = Object.entries({ ...rest, ...(reqId && { reqId }) }).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  const stack = err?.stack ? `\n${err.stack.split('\n').map(printable).join('\n')}` : '';
  const text = [printable(msg), ...(more.length > 0 ? [styleText('dim', printable(more.join(' ')))] : [])].join(' ');
  return `${at}  ${level >= 40 ? styleText(level >= 50 ? 'red' : 'yellow', word) : word}  ${text}${stack}`;
}

interface LogEntry {
  readonly level?: number;
  readonly time?: number;
  readonly msg?: string;
  readonly reqId?: string;
  readonly err?: { readonly stack?: string };
  readonly [field: string]: unknown;
}

const levels: Record<number, string> = { 10: 'trace', 20: 'debug', 30: 'info', 40: 'warn', 50: 'error', 60: 'fatal' };

function describeRequest({ status, code, method, url, ms }: { readonly [field: string]: unknown }): string {
  const colour = Number(status) >= 500 ? 'red' : Number(status) >= 400 ? 'yellow' : 'green';
  // As wide as a level and the gap after it.
  return `${styleText(colour, String(status))}    ${printable(`${method} ${url}`)}  ${styleText('dim', `${typeof code === 'string' ? `${code}  ` : ''}${ms} ms`)}`;
}

function parse(line: string): LogEntry | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    return JSON.parse(line) as LogEntry;
  } catch {
    return undefined;
  }
}
