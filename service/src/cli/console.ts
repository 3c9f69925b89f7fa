import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import closeWithGrace from 'close-with-grace';
import type { Command } from 'commander';
import type { ConsoleApp } from '../console/console-app.ts';
import { type Dependencies, openDependencies, openLimiter } from '../dependencies.ts';
import { addConsoleMetrics, RequestTally } from '../operations/telemetry/request-tally.ts';
import type { Limiter } from '../partners/rate-limit/limiter.ts';
import type { Config, ReadConfig } from '../platform/config.ts';
import { listenOnOthers } from '../platform/http/protocol/connections.ts';
import { consoleUrlOf } from './console-url.ts';
import { printLines } from './output.ts';

/** The maximum time of a shutdown, after the drain. */
const closeTimeoutMs = 15_000;

export function addConsoleCommand(program: Command, config: ReadConfig): void {
  program
    .command('console')
    .description('serve the console, in which the staff of shelters and of the store work')
    .action(() => serveConsole(config()));
}

/** Serves until SIGTERM or SIGINT. Then fails readiness, waits, finishes requests in flight, and closes. */
async function serveConsole(config: Config): Promise<void> {
  const consoleUrl = consoleUrlOf(config);
  await using opened = new AsyncDisposableStack();
  const dependencies = opened.use(await openDependencies(config, { actsAs: 'console' }));
  const { log, endLog, db } = dependencies;
  // Imported only here: loading it would double the startup time of the other commands.
  const { createConsole } = await import('../console/console-app.ts');
  const limiter = openLimiter(dependencies);
  const requests = config.metricsPort === undefined ? undefined : new RequestTally();
  const app = await createConsole(dependencies, { limiter, consoleUrl, requests });
  if (requests) opened.use(await openConsoleMetrics(dependencies, { requests, limiter, app }));
  await db.open();
  await app.server.listen({ host: config.consoleHost, port: config.consolePort });
  // localhost is an address of IPv4 and one of IPv6.
  const addresses = isIP(config.consoleHost) ? [] : await lookup(config.consoleHost, { all: true });
  const others = listenOnOthers(
    app.server,
    addresses.map(({ address }) => address),
  );
  const open = opened.move();
  closeWithGrace(
    { delay: config.drainMs + closeTimeoutMs, logger: { error: (text: unknown) => log.error(String(text)) } },
    async ({ err, signal }) => {
      if (err) log.fatal({ err }, 'uncaught');
      else log.info({ signal }, 'draining');
      app.drain();
      await sleep(err ? 0 : config.drainMs);
      for (const server of others) server.close();
      await app.server.close();
      await open.disposeAsync();
      log.info('closed');
      await endLog();
    },
  );
  if (process.stdout.isTTY) printLines('', 'The console is running. Ctrl-C stops it.', '', `  ${consoleUrl}`, '');
}

interface Measured {
  readonly requests: RequestTally;
  readonly limiter: Limiter;
  readonly app: Pick<ConsoleApp, 'progress' | 'failedSignIns'>;
}

async function openConsoleMetrics(dependencies: Dependencies, { requests, limiter, app }: Measured): Promise<AsyncDisposable> {
  const { openMetrics } = await import('../operations/telemetry/metrics-server.ts');
  const { metricsHost: host, metricsPort: port = 0 } = dependencies.config;
  return openMetrics({ host, port }, dependencies, (registry) => {
    addConsoleMetrics(registry, { requests, decisions: limiter.tally, progress: app.progress });
    registry.addValuesBy('homeward_failed_sign_ins_total', 'kind', () => [...app.failedSignIns.totals]);
  });
}
