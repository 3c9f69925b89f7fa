// Connections that are held open: by reading nothing, by reading slowly, and by never finishing a request.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Response } from '../../testkit/http.ts';
import { type Step, urlOf } from './attack.ts';

/** More than the kernel's buffers take, so that the rest waits in the process. */
const requestsOfSocket = 8;
const slowBytes = 1_024;
const slowMs = 1_000;

export const readNothing = (step: Step): Promise<Response | undefined> => untilClosed(step, requestLarge(step));

export async function readSlowly(step: Step): Promise<Response | undefined> {
  const socket = requestLarge(step);
  const reading = setInterval(() => socket.read(slowBytes), slowMs);
  try {
    return await untilClosed(step, socket);
  } finally {
    clearInterval(reading);
  }
}

/** Never ends its headers. */
export function sendHalfToMetrics(step: Step): Promise<Response | undefined> {
  const { metricsPorts } = step.target;
  const socket = connect(metricsPorts[step.index % metricsPorts.length] ?? 0, '127.0.0.1');
  socket.resume().write('GET /metrics HTTP/1.1\r\nHost: localhost\r\nX-Half: ');
  return untilClosed(step, socket);
}

/** Requests several large responses. Nothing is read of them beyond what Node.js reads ahead. */
function requestLarge(step: Step): Socket {
  const { target, index } = step;
  const { port } = new URL(urlOf(target, index));
  const socket = connect(Number(port), '127.0.0.1');
  const path = largePaths[index % largePaths.length]?.(step) ?? '';
  const lines = [`GET ${path} HTTP/1.1`, 'Host: localhost', `Authorization: Bearer ${step.keys.partner}`, `X-Forwarded-For: 203.0.113.8`];
  socket.write(`${lines.join('\r\n')}\r\n\r\n`.repeat(requestsOfSocket));
  return socket;
}

/** The same page each time, so that it is cached: a client may have two searches at once, and the others would get a short error. */
const pageOfListings = ({ target }: Step) => `/v1/listings?limit=100&${target.largePetIds.map((id) => `id=${id}`).join('&')}`;
const largePaths: ReadonlyArray<(step: Step) => string> = [
  pageOfListings,
  pageOfListings,
  ({ target }) => target.picture,
  () => '/openapi.json',
];

/** Until the server closes the connection, or the attack ends. */
async function untilClosed({ stopping }: Step, socket: Socket): Promise<undefined> {
  const destroy = () => socket.destroy();
  stopping.addEventListener('abort', destroy);
  try {
    socket.on('error', () => {});
    if (!socket.closed) await once(socket, 'close');
  } finally {
    stopping.removeEventListener('abort', destroy);
  }
}

/** Of `count` connections that read nothing, those that the processes still have after `ms`. */
export async function countHeld(step: Step, count: number, ms: number): Promise<number> {
  for (const url of step.target.urls) await step.http.send(new URL(pageOfListings(step), url).href, { key: step.keys.partner });
  const sockets = Array.from({ length: count }, (_, i) =>
    requestLarge({ ...step, index: i * largePaths.length + (i % step.target.urls.length) }),
  );
  for (const socket of sockets) socket.on('error', () => {});
  await sleep(ms);
  const held = clientPortsOf(step.target.urls.map((url) => Number(new URL(url).port)));
  const heldCount = sockets.filter(({ localPort }) => localPort !== undefined && held.has(localPort)).length;
  for (const socket of sockets) socket.destroy();
  return heldCount;
}

/**
 * The other ends of the connections that processes have on these ports. A client that reads nothing is not told that its connection was
 * closed; the kernel knows.
 */
function clientPortsOf(ports: readonly number[]): Set<number> {
  const rows = readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .slice(1)
    .map((line) => line.trim().split(/\s+/));
  const portOf = (address = '') => Number.parseInt(address.split(':')[1] ?? '', 16);
  // An inode of 0: no process has it any more.
  const open = rows.filter((row) => ports.includes(portOf(row[1])) && row[9] !== '0');
  return new Set(open.map((row) => portOf(row[2])));
}
