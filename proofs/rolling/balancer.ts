// HAProxy in front of processes of the store, with the checks and retries of a real deployment.
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, MissingServer, PrivateServer } from '../../testkit/servers.ts';

/** A process counts as down after this many failed checks. */
const checksUntilDown = 2;
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

  static async open(ports: readonly number[], checkIntervalMs: number): Promise<Balancer> {
    const binary = ['/usr/sbin/haproxy', '/usr/local/sbin/haproxy'].find((file) => existsSync(file));
    if (!binary) throw new MissingServer('HAProxy is not installed: apt-get install haproxy');
    const folder = mkdtempSync(path.join(tmpdir(), 'homeward-haproxy-'));
    const port = await freePort();
    const socket = path.join(folder, 'stats');
    const config = path.join(folder, 'haproxy.cfg');
    writeFileSync(config, configOf({ port, socket, ports, checkIntervalMs }));
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
  readonly ports: readonly number[];
  readonly checkIntervalMs: number;
}

const configOf = ({ port, socket, ports, checkIntervalMs }: Settings) => `global
  maxconn 4000
  stats socket ${socket} mode 600 level operator
defaults
  mode http
  timeout connect 1s
  timeout queue 2s
  timeout http-request 10s
  # Longer than a run, so that no idle connection of the clients is closed: what then fails is a fault of the store.
  timeout http-keep-alive 1h
  timeout client 1h
  timeout server 60s
  # On a busy machine a check may be late. A process that drains responds with 503, and one that has ended does not listen.
  timeout check 5s
  retries 2
  retry-on conn-failure empty-response
  option redispatch 1
frontend http
  bind 127.0.0.1:${port}
  http-request disable-l7-retry unless METH_GET or { req.hdr(idempotency-key) -m found }
  default_backend api
backend api
  balance leastconn
  option httpchk GET /readyz
  http-check expect status 200
  default-server check inter ${checkIntervalMs}ms fall ${checksUntilDown} rise 1
${ports.map((one, i) => `  server api-${i + 1} 127.0.0.1:${one}`).join('\n')}
`;
