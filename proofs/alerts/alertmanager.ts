// A real Alertmanager with the routes of deploy/alertmanager, whose two receivers are filled in, and what these receive.
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { json } from 'node:stream/consumers';
import { parse, stringify } from 'yaml';
import { freePort } from '../../testkit/servers.ts';
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
    const folder = resources.adopt(mkdtempSync(path.join(tmpdir(), 'homeward-alertmanager-')), (made) => rmSync(made, { recursive: true }));
    const receiverUrl = await alertmanager.#listen();
    const { route, receivers } = parse(readFileSync('deploy/alertmanager/alertmanager.yml', 'utf8')) as AlertmanagerFile;
    const filled = {
      route: hurried(route),
      receivers: receivers.map(({ name }) => ({ name, webhook_configs: [{ url: `${receiverUrl}/${name}` }] })),
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

  async #listen(): Promise<string> {
    const server = createServer((request, response) => {
      void json(request).then((message) => {
        this.#note((request.url ?? '').slice(1), message as Message);
        response.end();
      });
    });
    this.#resources.adopt(server, () => {
      server.closeAllConnections();
      server.close();
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
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
