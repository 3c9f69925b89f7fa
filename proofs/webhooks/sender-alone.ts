// What a worker's sender reaches by itself: signs and sends events to endpoints in turn, without PostgreSQL.
// Its input is a SenderTask, its output a SenderRate.
import { text } from 'node:stream/consumers';
import { SafeSender } from '../../service/src/changes/delivery/safe-sender.ts';
import { newSecret, signedHeaders } from '../../service/src/changes/webhooks/target-urls.ts';

export interface SenderTask {
  readonly origins: readonly string[];
  readonly endpoints: number;
  /** The bodies of the events, each of which is sent to every endpoint. */
  readonly bodies: readonly string[];
  readonly inFlightMax: number;
}

export interface SenderRate {
  readonly perSecond: number;
  /** For each request. */
  readonly cpuUs: number;
  readonly failed: number;
}

const task = JSON.parse(await text(process.stdin)) as SenderTask;
const { origins, bodies, inFlightMax } = task;
const endpoints = Array.from({ length: task.endpoints }, (_, i) => ({
  url: `${origins[i % origins.length]}/alone/${i}`,
  secret: newSecret(),
}));
const sender = new SafeSender({ toLoopback: true });
/** A worker passes one too. */
const { signal } = new AbortController();

let next = 0;
let failed = 0;
const total = endpoints.length * bodies.length;
const startMs = performance.now();
const cpuBefore = process.cpuUsage();
await Promise.all(Array.from({ length: inFlightMax }, sendInTurn));
const { user, system } = process.cpuUsage(cpuBefore);
const rate: SenderRate = { perSecond: (total * 1_000) / (performance.now() - startMs), cpuUs: (user + system) / total, failed };
await sender.close();
console.log(JSON.stringify(rate));

async function sendInTurn(): Promise<void> {
  while (next < total) {
    const index = next;
    next += 1;
    const { url, secret } = endpoints[index % endpoints.length] ?? { url: '', secret: '' };
    const event = Math.floor(index / endpoints.length);
    const id = `evt_${event + 1}`;
    const body = bodies[event] ?? '';
    const headers = signedHeaders(id, Math.floor(Date.now() / 1_000), body, [secret]);
    const { status } = await sender.send({ url, headers, body }, signal);
    if (status !== 204) failed += 1;
  }
}
