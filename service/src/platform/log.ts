import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { styleText } from 'node:util';
import type { FastifyBaseLogger } from 'fastify';
import { pino } from 'pino';
import { withoutKeys } from '../domain/token-formats.ts';
import { printable } from './characters.ts';
import type { Config } from './config.ts';

const endTimeoutMs = 1_000;
/** What waits to be written while nobody reads the log. Further lines are dropped, and counted. */
const waitingBytesMax = 8_000_000;

/** For operations, which know nothing of Fastify. */
export type Log = Pick<FastifyBaseLogger, 'info' | 'warn'>;

export interface OpenLog {
  readonly log: FastifyBaseLogger;
  /**
   * Writes what is left, as the last thing before a process ends. Otherwise pino does that at the exit and, if nobody reads the log any
   * more, tries for ever.
   */
  endLog(): Promise<void>;
}

/** Logs JSON, or lines for people if standard output is a terminal. */
export function openLog({ logLevel }: Pick<Config, 'logLevel'>): OpenLog {
  const output = pino.destination({ fd: process.stdout.fd, sync: process.stdout.isTTY, maxLength: waitingBytesMax });
  const ended = Promise.race([once(output, 'close'), once(output, 'error')]).catch(() => {});
  const options = {
    level: logLevel,
    serializers: {
      err: (error: Error) => {
        const { type, message, stack, code } = pino.stdSerializers.err(error) as unknown as Record<string, string>;
        return { type, message: withoutKeys(message ?? ''), stack: withoutKeys(stack ?? ''), code };
      },
    },
  };
  const readable = { write: (line: string) => void output.write(`${readableLogLine(line)}\n`) };
  const log = pino(options, process.stdout.isTTY ? readable : output) as FastifyBaseLogger;
  let dropped = 0;
  output.on('drop', () => (dropped += 1));
  output.on('drain', () => {
    if (dropped === 0) return;
    const lines = dropped;
    dropped = 0;
    log.warn({ lines }, 'log lines were dropped: nothing reads the log fast enough');
  });
  return {
    log,
    async endLog() {
      output.end();
      // Whatever is logged from now on is lost, and must not throw.
      output.write = () => true;
      await Promise.race([ended, sleep(endTimeoutMs, undefined, { ref: false })]);
    },
  };
}

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
  const request = printable(`${method} ${url}`);
  const result = typeof code === 'string' ? `${code}  ${ms} ms` : `${ms} ms`;
  // As wide as a level and the gap after it.
  return `${styleText(colour, String(status))}    ${request}  ${styleText('dim', result)}`;
}

function parse(line: string): LogEntry | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    return JSON.parse(line) as LogEntry;
  } catch {
    return undefined;
  }
}
