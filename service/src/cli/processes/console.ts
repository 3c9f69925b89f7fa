import type { Command } from 'commander';
import type { Limiter } from '../../access/rate-limit/limiter.ts';
import type { ConsoleApp } from '../../console/console-app.ts';
import { type Dependencies, openDependencies, openLimiter } from '../../dependencies.ts';
import { addConsoleMetrics, RequestTally } from '../../operations/telemetry/request-tally.ts';
import type { Config, ReadConfig } from '../../platform/config.ts';
import { consoleUrlOf } from '../access/people.ts';
import { printLines } from '../terminal/output.ts';
import { listenUntilSignal } from './serve.ts';

export function addConsoleCommand(program: Command, config: ReadConfig): void {
  program
    .command('console')
    .description('serve the console, in which the staff of shelters and of the store work')
    .action(() => serveConsole(config()));
}

async function serveConsole(config: Config): Promise<void> {
  const consoleUrl = consoleUrlOf(config);
  await using opened = new AsyncDisposableStack();
  const dependencies = opened.use(await openDependencies(config, { actsAs: 'console' }));
  // Imported only here: loading it would double the startup time of the other commands.
  const { createConsole } = await import('../../console/console-app.ts');
  const limiter = openLimiter(dependencies);
  const requests = config.metricsPort === undefined ? undefined : new RequestTally();
  const app = await createConsole(dependencies, { limiter, consoleUrl, requests });
  if (requests) opened.use(await openConsoleMetrics(dependencies, { requests, limiter, app }));
  await dependencies.db.open();
  await listenUntilSignal(app, { host: config.consoleHost, port: config.consolePort }, dependencies, opened);
  if (process.stdout.isTTY) printLines('', 'The console is running. Ctrl-C stops it.', '', `  ${consoleUrl}`, '');
}

interface Measured {
  readonly requests: RequestTally;
  readonly limiter: Limiter;
  readonly app: Pick<ConsoleApp, 'progress' | 'failedSignIns'>;
}

async function openConsoleMetrics(dependencies: Dependencies, { requests, limiter, app }: Measured): Promise<AsyncDisposable> {
  const { openMetrics } = await import('../../operations/telemetry/metrics-server.ts');
  const { metricsHost: host, metricsPort: port = 0 } = dependencies.config;
  return openMetrics({ host, port }, dependencies, (registry) => {
    addConsoleMetrics(registry, { requests, decisions: limiter.tally, progress: app.progress });
    registry.addValuesBy('homeward_failed_sign_ins_total', 'kind', () => [...app.failedSignIns.totals]);
  });
}
