// A real Alertmanager with the routes of deploy/alertmanager, whose two receivers are filled in, and what these receive.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parse, stringify } from 'yaml';
import { serveLocally } from '../../testkit/local-server.ts';
import { freePort } from '../../testkit/servers.ts';
import { temporaryFolder } from '../../testkit/temporary-folder.ts';
import { startMonitor } from './monitor.ts';

/** One alert in a message, as the receiver got it. */
export interface Received {
  readonly receiver: string;
  readonly alert: string;
  readonly severity: string;
  readonly runbook: string;
}

interface Route {
  readonly routes?: readonly Route[];
}

interface AlertmanagerFile {
  readonly route: Route;
  readonly receivers: ReadonlyArray<{ readonly name: string }>;
}

interface Message {
  readonly alerts: ReadonlyArray<{
    readonly status: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations: Readonly<Record<string, string>>;
  }>;
}

export class Alertmanager implements AsyncDisposable {
  readonly address: string;
  /** What fires; messages that an alert has ended are left out. */
  readonly received: Received[] = [];
  readonly #resources = new AsyncDisposableStack();

  private constructor(port: number) {
    this.address = `127.0.0.1:${port}`;
  }

  static async start(): Promise<Alertmanager> {
    const port = await freePort();
    const alertmanager = new Alertmanager(port);
    await using onFailure = new AsyncDisposableStack();
    const resources = onFailure.use(alertmanager.#resources);
    const { path: folder } = resources.use(temporaryFolder('alertmanager'));
    const receiver = resources.use(
      await serveLocally(({ url = '' }, response, body) => {
        alertmanager.#note(url.slice(1), JSON.parse(body) as Message);
        response.end();
      }),
    );
    const { route, receivers } = parse(readFileSync('deploy/alertmanager/alertmanager.yml', 'utf8')) as AlertmanagerFile;
    const filled = {
      route: hurried(route),
      receivers: receivers.map(({ name }) => ({ name, webhook_configs: [{ url: `${receiver.origin}/${name}` }] })),
    };
    writeFileSync(path.join(folder, 'alertmanager.yml'), stringify(filled));
    const args = [
      `--config.file=${path.join(folder, 'alertmanager.yml')}`,
      `--storage.path=${path.join(folder, 'data')}`,
      `--web.listen-address=${alertmanager.address}`,
      '--cluster.listen-address=',
    ];
    const readyUrl = `http://${alertmanager.address}/-/ready`;
    resources.use(await startMonitor({ program: 'prometheus-alertmanager', args, readyUrl }));
    onFailure.move();
    return alertmanager;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#resources.disposeAsync();
  }

  #note(receiver: string, { alerts }: Message): void {
    for (const { status, labels, annotations } of alerts) {
      if (status !== 'firing') continue;
      const { alertname: alert = '', severity = '' } = labels;
      this.received.push({ receiver, alert, severity, runbook: annotations['runbook'] ?? '' });
    }
  }
}

/** The routes are those of the file; only their waits are shorter, as the times of the rules are. */
function hurried(route: Route): Route {
  return { ...route, group_wait: '1s', group_interval: '1s', ...(route.routes && { routes: route.routes.map(hurried) }) } as Route;
}
