// HAProxy in front of two processes of the store, with the file that operators get.
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort, MissingServer, PrivateServer } from '../../testkit/servers.ts';

const shipped = fileURLToPath(new URL('../../deploy/haproxy/haproxy.cfg', import.meta.url));
const statusTimeoutMs = 60_000;

export class Balancer implements AsyncDisposable {
  /** Ends in /v1. */
  readonly url: string;
  readonly #server: PrivateServer;
  readonly #socket: string;

  private constructor(server: PrivateServer, socket: string) {
    this.url = `${server.url}/v1`;
    this.#server = server;
    this.#socket = socket;
  }

  static async open(ports: readonly [number, number]): Promise<Balancer> {
    const binary = ['/usr/sbin/haproxy', '/usr/local/sbin/haproxy'].find((file) => existsSync(file));
    if (!binary) throw new MissingServer('HAProxy is not installed: apt-get install haproxy');
    const folder = mkdtempSync(path.join(tmpdir(), 'homeward-haproxy-'));
    const port = await freePort();
    const socket = path.join(folder, 'stats');
    const config = path.join(folder, 'haproxy.cfg');
    writeFileSync(config, configOf({ port, socket, ports }));
    const server = new PrivateServer({
      url: `http://127.0.0.1:${port}`,
      port,
      command: [binary, '-db', '-f', config],
      folder,
      kept: false,
    });
    await server.start();
    return new Balancer(server, socket);
  }

  /** Waits until the balancer sends requests to this many processes. */
  async untilUp(count: number): Promise<void> {
    for (const deadlineMs = performance.now() + statusTimeoutMs; performance.now() < deadlineMs; await sleep(20)) {
      const up = (await this.#readStatuses()).filter((status) => status.startsWith('UP')).length;
      if (up === count) return;
    }
    throw new Error(`the balancer did not find ${count} processes in ${statusTimeoutMs} ms`);
  }

  async #readStatuses(): Promise<string[]> {
    const socket = connect(this.#socket);
    socket.end('show stat api 4 -1\n');
    const [header = '', ...rows] = (await text(socket)).trim().split('\n');
    const column = header.split(',').indexOf('status');
    return rows.map((row) => row.split(',')[column] ?? '');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server[Symbol.asyncDispose]();
  }
}

interface Settings {
  readonly port: number;
  readonly socket: string;
  readonly ports: readonly [number, number];
}

/** Without TLS, which the proof of deploying tests, and with a socket to read the state from. All else is as operators get it. */
function configOf({ port, socket, ports }: Settings): string {
  const edits: ReadonlyArray<readonly [RegExp, string]> = [
    [/^ {2}bind .*$/m, `  bind 127.0.0.1:${port}`],
    [/^ {2}log stdout .*$/m, `  stats socket ${socket} mode 600 level operator`],
    [/"\$\{HOMEWARD_API_1-.*\}"/, `127.0.0.1:${ports[0]}`],
    [/"\$\{HOMEWARD_API_2-.*\}"/, `127.0.0.1:${ports[1]}`],
  ];
  return edits.reduce(
    (config, [from, to]) => {
      if (!from.test(config)) throw new Error(`${shipped} has nothing that matches ${from}`);
      return config.replace(from, to);
    },
    readFileSync(shipped, 'utf8'),
  );
}
