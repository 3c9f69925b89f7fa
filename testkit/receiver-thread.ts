// The servers of a ReceiverThread. They parse no more than they need, so that the sender is what limits a measured rate.
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';
import { type ArrivalLog, elsewhere } from './arrival-log.ts';

const { log, servers } = workerData as { log: ArrivalLog; servers: number };
const response = 'HTTP/1.1 204 No Content\r\n\r\n';
const headEnd = '\r\n\r\n';

const ports = await Promise.all(
  Array.from({ length: servers }, async () => {
    const server = createServer({ noDelay: true }, serve);
    await new Promise<void>((resolve) => server.listen({ port: 0, host: '127.0.0.1', backlog: 1_024 }, resolve));
    return (server.address() as AddressInfo).port;
  }),
);
parentPort?.postMessage(ports);

function serve(socket: Socket): void {
  let rest = '';
  socket.on('error', () => {});
  socket.on('data', (chunk) => {
    let text = rest + chunk.toString('latin1');
    let responses = '';
    for (let length = requestLength(text); length !== undefined; length = requestLength(text)) {
      record(text);
      responses += response;
      text = text.slice(length);
    }
    rest = text;
    if (responses) socket.write(responses);
  });
}

/** The length of the first request, or undefined if it is not complete. */
function requestLength(text: string): number | undefined {
  const end = text.indexOf(headEnd);
  if (end < 0) return undefined;
  const length = end + headEnd.length + Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
  return length <= text.length ? length : undefined;
}

/** The path ends in the number of the endpoint. A test has no position. */
function record(request: string): void {
  const [index] = log.count;
  if (index === undefined || index >= log.endpoints.length) return;
  log.endpoints[index] = Number(/^POST \/hooks\/(\d+) /.exec(request)?.[1] ?? elsewhere);
  log.positions[index] = Number(/webhook-id: evt_(\d+)/i.exec(request)?.[1] ?? -1);
  log.timesMs[index] = Date.now();
  Atomics.store(log.count, 0, index + 1);
}
