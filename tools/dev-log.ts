import { styleText } from 'node:util';

/** Formats a line of the service's log for people. A line that is not JSON stays unchanged; undefined if it is older than `sinceMs`. */
export function prettyLogLine(line: string, sinceMs: number): string | undefined {
  const entry = parse(line);
  if (!entry) return line;
  const { level = 30, time = 0, msg = '', pid, hostname, reqId, err, ...rest } = entry;
  if (time < sinceMs) return undefined;
  const at = styleText('dim', new Date(time).toTimeString().slice(0, 8));
  if (msg === 'request') return `${at}  ${describeRequest(rest)}`;
  const word = levels[level] ?? String(level);
  const more = Object.entries({ ...rest, ...(reqId && { reqId }) }).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  const stack = err?.stack ? `\n${err.stack}` : '';
  return `${at}  ${level >= 40 ? styleText(level >= 50 ? 'red' : 'yellow', word) : word}  ${[msg, ...more].join(' ')}${stack}`;
}

/** Splits a stream of chunks into whole lines. */
export function eachLine(stream: NodeJS.ReadableStream, take: (line: string) => void): void {
  let rest = '';
  stream.setEncoding('utf8');
  stream.on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) take(line);
  });
  stream.on('end', () => {
    if (rest) take(rest);
  });
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

function describeRequest({ status, method, url, ms }: { readonly [field: string]: unknown }): string {
  const colour = Number(status) >= 500 ? 'red' : Number(status) >= 400 ? 'yellow' : 'green';
  return `${styleText(colour, String(status))}  ${method} ${url}  ${styleText('dim', `${ms} ms`)}`;
}

function parse(line: string): LogEntry | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    return JSON.parse(line) as LogEntry;
  } catch {
    return undefined;
  }
}
