import { setTimeout as sleep } from 'node:timers/promises';
import closeWithGrace from 'close-with-grace';
import type { Command } from 'commander';
import type { Clock } from '../clock.ts';
import type { Config, ReadConfig } from '../config.ts';
import { openDependencies } from '../dependencies.ts';

/** What a shutdown may take at most, after the wait for readiness to be noticed. */
const closeTimeoutMs = 15_000;

export function addServeCommand(program: Command, config: ReadConfig): void {
  program
    .command('serve')
    .description('serve the API at /v1, with /livez, /readyz, /docs and /openapi.json beside it')
    .action(() => serve(config()));
}

/** Serves until SIGTERM or SIGINT; then fails readiness, waits, finishes what is under way, and closes. */
export async function serve(config: Config, overrides: { clock?: Clock } = {}): Promise<void> {
  await using opened = new AsyncDisposableStack();
  const dependencies = opened.use(await openDependencies(config, overrides));
  const { log, db } = dependencies;
  // Loaded when it is needed: the other commands start in half the time without it.
  const { createApp } = await import('../app.ts');
  const app = await createApp(dependencies);
  await db.open();
  await app.server.listen({ host: config.host, port: config.port });
  const open = opened.move();
  closeWithGrace(
    { delay: config.drainMs + closeTimeoutMs, logger: { error: (text: unknown) => log.error(String(text)) } },
    async ({ err, signal }) => {
      if (err) log.fatal({ err }, 'uncaught');
      else log.info({ signal }, 'draining');
      app.drain();
      await sleep(err ? 0 : config.drainMs);
      await app.server.close();
      await open.disposeAsync();
      log.info('closed');
    },
  );
}
