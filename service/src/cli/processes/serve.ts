import { lookup } from 'node:dns/promises';
import { type AddressInfo, isIP } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import closeWithGrace from 'close-with-grace';
import type { Command } from 'commander';
import type { App } from '../../app.ts';
import { type Dependencies, openCaches, openDependencies } from '../../dependencies.ts';
import { addServiceMetrics, RequestTally } from '../../operations/telemetry/request-tally.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Config, ReadConfig } from '../../platform/config.ts';
import { listenOnOthers } from '../../platform/http/protocol/connections.ts';
import { printLines } from '../terminal/output.ts';

/** The maximum time of a shutdown, after the drain. */
const closeTimeoutMs = 15_000;

export function addServeCommand(program: Command, config: ReadConfig): void {
  program
    .command('serve')
    .description('serve the API at /v1, and /livez, /readyz, /docs and /openapi.json')
    .action(() => serve(config()));
}

export async function serve(config: Config, overrides: { clock?: Clock } = {}): Promise<void> {
  await using opened = new AsyncDisposableStack();
  const dependencies = opened.use(await openDependencies(config, { ...overrides, actsAs: 'serve' }));
  const { db, changes } = dependencies;
  // Imported only here: loading the app would double the startup time of the other commands.
  const { createApp } = await import('../../app.ts');
  const caches = openCaches(dependencies);
  const requests = config.metricsPort === undefined ? undefined : new RequestTally();
  const app = await createApp(dependencies, caches, requests);
  // Before the API listens: a port that is in use must not be found out while requests arrive.
  if (requests) opened.use(await openServiceMetrics(dependencies, { requests, caches, app }));
  await db.open();
  // The first look evicts everything, so make it while nothing is cached.
  await changes.look();
  await listenUntilSignal(app, { host: config.host, port: config.port }, dependencies, opened);
  if (process.stdout.isTTY) printLines(...describeAddresses(app.server.server.address() as AddressInfo));
}

/**
 * Listens on every address of the host, until SIGTERM or SIGINT. Then fails readiness, waits, finishes requests in flight, and closes all
 * that was opened.
 */
export async function listenUntilSignal(
  app: Pick<App, 'server' | 'drain'>,
  { host, port }: { readonly host: string; readonly port: number },
  { config, log, endLog }: Dependencies,
  opened: AsyncDisposableStack,
): Promise<void> {
  await app.server.listen({ host, port });
  // localhost is an address of IPv4 and one of IPv6.
  const addresses = isIP(host) ? [] : await lookup(host, { all: true });
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
}

interface Measured {
  readonly requests: RequestTally;
  readonly caches: ReturnType<typeof openCaches>;
  readonly app: Pick<App, 'streams' | 'progress'>;
}

async function openServiceMetrics(dependencies: Dependencies, { requests, caches, app }: Measured): Promise<AsyncDisposable> {
  const { openMetrics } = await import('../../operations/telemetry/metrics-server.ts');
  const { config, changes } = dependencies;
  const measured = { keys: caches.keys, pages: caches.pages, listings: caches.listingPages };
  return openMetrics({ host: config.metricsHost, port: config.metricsPort ?? 0 }, dependencies, (registry) =>
    addServiceMetrics(registry, {
      requests,
      decisions: caches.limiter.tally,
      caches: measured,
      changes,
      streams: app.streams,
      progress: app.progress,
    }),
  );
}

/** Where a browser on this machine finds the service. */
function describeAddresses({ address, port }: AddressInfo): string[] {
  const host = address === '0.0.0.0' ? '127.0.0.1' : address === '::' ? '::1' : address;
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  return ['', 'Homeward is running. Ctrl-C stops it.', '', `  API   ${url}/v1`, `  Docs  ${url}/docs`, ''];
}
