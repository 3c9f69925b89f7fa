// Kinds of requests whose CPU time is measured, and how.
import { setTimeout as sleep } from 'node:timers/promises';
import { cpuMs } from '../testkit/process-cpu.ts';
import type { Tree } from './cost-trees.ts';
import type { Program } from './program.ts';
import { requestText, type SocketLoad } from './socket-load.ts';

const turnTimeoutMs = 60_000;
/** Fewer than the process's connections to PostgreSQL, so that no request waits for one. */
export const writeConnections = 4;
/** Work that a process does after its last response is part of the cost. */
const settleMs = 5;

export interface Kind {
  readonly name: string;
  readonly requestsPerTurn: number;
  readonly connections: number;
  readonly status: number;
  /** Never places the same order twice: `turn` counts the turns of a tree from 0, over all rounds. */
  requests(tree: Tree, turn: number): string[];
}

export interface Run {
  readonly tree: Tree;
  readonly program: Program;
}

/** Returns µs per request. */
export const measureTurn = (kind: Kind, { tree, program }: Run, load: SocketLoad, turn: number): Promise<number> =>
  measureRequests(kind.requests(tree, turn), { pid: program.pid, load, status: kind.status });

/** What the process takes for each of the requests, in µs. */
export async function measureRequests(
  requests: readonly string[],
  { pid, load, status }: { pid: number; load: SocketLoad; status: number },
): Promise<number> {
  const beforeMs = cpuMs(pid);
  await load.send(requests, { status, timeoutMs: turnTimeoutMs });
  await sleep(settleMs);
  return ((cpuMs(pid) - beforeMs) * 1_000) / requests.length;
}

/** One page, requested with a thousand keys: it is cached from its first request on. */
export function listKind(path: '/v1/pets' | '/v1/listings', count: number): Kind {
  return {
    name: `GET ${path}, cached`,
    requestsPerTurn: count,
    connections: 32,
    status: 200,
    requests: ({ keys }, turn) => Array.from({ length: count }, (_, i) => requestText('GET', path, keyAt(keys, turn * count + i))),
  };
}

export function createKind(count: number): Kind {
  return {
    name: 'POST /v1/pets',
    requestsPerTurn: count,
    connections: writeConnections,
    status: 201,
    requests: ({ keys }, turn) =>
      Array.from({ length: count }, (_, i) =>
        requestText('POST', '/v1/pets', keyAt(keys, turn * count + i), { name: 'Biscuit', categoryId: 1 }),
      ),
  };
}

/** An order for the animal, by an adopter of this number. */
export const orderText = (key: string, petId: number, number: number): string =>
  requestText('POST', '/v1/store/orders', key, { petId, adopter: { name: 'Ada Lovelace', email: `ada${number}@example.org` } });

/** Consecutive keys belong to different clients: 7 is coprime to the number of keys, and more than the number of keys of a client. */
export function keyAt(keys: Tree['keys'], i: number): string {
  return keys[(i * 7) % keys.length]?.key ?? '';
}
