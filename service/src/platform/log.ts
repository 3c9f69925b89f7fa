import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import { pino } from 'pino';
import { withoutKeys } from '../domain/key-format.ts';
import type { Config } from './config.ts';
import { readableLogLine } from './readable-log.ts';

const endTimeoutMs = 1_000;
/** What waits to be written while nobody reads the log. Further lines are dropped, and counted. */
const waitingBytesMax = 8_000_000;

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
