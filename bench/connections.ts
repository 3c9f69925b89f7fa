// The CPU time of the service's process for a request by the number of connections, for one busy client and for many, beside bare
// Fastify: npm run bench -- connections [--turns N] [--json]
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { drawSamples, mixed, type Samples } from '../testkit/listing-searches.ts';
import { fillListings } from '../testkit/listings-fill.ts';
import { queryAt } from '../testkit/postgres.ts';
import { MissingServer } from '../testkit/servers.ts';
import { Contenders } from './contenders.ts';
import { keyAt, measureRequests, orderText } from './cost-kinds.ts';
import type { Page } from './mix.ts';
import { printRows } from './report.ts';
import { installPeers, MissingTool } from './requirements.ts';
import type { HttpContender } from './scenarios.ts';
import type { BenchKey } from './seed.ts';
import { requestText, SocketLoad } from './socket-load.ts';
import { type Spread, spreadOf } from './summary.ts';

const animals = 20_000;
const connectionCounts = [1, 4, 16, 64];
/** In each cell, to warm up its connections and pages. */
const warmingTurns = 1;
/** To warm up the compiler and the cache of keys, before the cells of a kind. */
const warmingConnections = 16;
const turnsMax = 20;
/** Of a cell of the tables. A turn fails if a response is an error, such as a search that waited too long for others of its client. */
const attemptsMax = 3;

interface Kind {
  readonly name: string;
  readonly of: HttpContender;
  /** Sends the same bytes, without keys, limits and a database. */
  readonly beside?: HttpContender;
  readonly status: number;
  readonly requestsMin: number;
  readonly warmUpRequests: number;
  /** With more, one client gets errors, as it should. */
  readonly connectionsOfOneMax?: number;
  request(key: string, number: number): string;
}

interface Figure {
  readonly kind: string;
  readonly clients: Clients;
  readonly connections: number;
  /** In µs; undefined: it could not be measured. */
  readonly us: Spread | undefined;
  /** As a multiple of bare Fastify's. */
  readonly ratio: Spread | undefined;
}

const clientsTitles = { one: 'one client', many: 'many clients' } as const;
type Clients = keyof typeof clientsTitles;

const { values } = parseArgs({ options: { turns: { type: 'string', default: '6' }, json: { type: 'boolean', default: false } } });
const turns = Number(values.turns);
const progress = (text: string) => void (process.stderr.isTTY && process.stderr.write(`\r\x1b[K${text}`));

if (Number.isInteger(turns) && turns >= 1 && turns <= turnsMax) process.exitCode = await main();
else {
  console.error(`--turns must be an integer from 1 to ${turnsMax}; got "${values.turns}".`);
  process.exitCode = 2;
}

async function main(): Promise<number> {
  try {
    const figures = await measureAll();
    progress('');
    print(figures);
    if (values.json) console.log(JSON.stringify({ turns, figures }));
    return figures.every(({ us }) => us) ? 0 : 1;
  } catch (error) {
    progress('');
    console.error(error instanceof MissingServer || error instanceof MissingTool ? error.message : error);
    return 1;
  }
}

async function measureAll(): Promise<Figure[]> {
  await installPeers();
  const folder = mkdtempSync(path.join(tmpdir(), 'homeward-bench-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  progress(`starting PostgreSQL, Redis and Homeward, with ${animals.toLocaleString('en')} animals`);
  await using contenders = await Contenders.open(folder, (url) => fillListings(url, animals));
  const { url } = contenders.store.postgres;
  const available = await queryAt<{ id: string }>(url, `select id from pets where status = 'available'`);
  const petIds = available.map(({ id }) => Number(id)).values();
  const figures: Figure[] = [];
  for (const kind of kindsOf(contenders.pages, await drawSamples(url, animals), petIds)) {
    progress(`warming up: ${kind.name}`);
    await warmUp(contenders, kind);
    for (const clients of Object.keys(clientsTitles) as Clients[]) {
      for (const connections of connectionCounts) {
        if (clients === 'one' && connections > (kind.connectionsOfOneMax ?? connections)) continue;
        progress(`${kind.name}, ${clientsTitles[clients]}, ${connections} connections`);
        const keys = clients === 'one' ? contenders.keys.slice(0, 1) : contenders.keys;
        figures.push({ kind: kind.name, clients, connections, ...(await measureCell(contenders, kind, { keys, connections })) });
      }
    }
  }
  return figures;
}

async function warmUp(contenders: Contenders, { of, beside, status, warmUpRequests, request }: Kind): Promise<void> {
  for (const name of [of, ...(beside ? [beside] : [])]) {
    const { origin, pid } = await contenders.get(name);
    using load = await SocketLoad.open(origin, warmingConnections);
    const requests = Array.from({ length: warmUpRequests }, (_, i) => request(keyAt(contenders.keys, i), i));
    await measureRequests(requests, { pid, load, status });
  }
}

/** No animal is ordered twice: `petIds` gives each once. */
function kindsOf(pages: readonly Page[], samples: Samples, petIds: Iterator<number>): Kind[] {
  const page = (key: string, number: number) => requestText('GET', pages[number % pages.length]?.path ?? '', key);
  const searches = [mixed.text, mixed.misspelt, mixed['text and filters']];
  return [
    { name: 'A cached list', of: 'homeward', beside: 'bare-fastify', status: 200, requestsMin: 400, warmUpRequests: 5_000, request: page },
    {
      name: 'A list that is read',
      of: 'homeward-uncached',
      beside: 'bare-fastify',
      status: 200,
      requestsMin: 100,
      warmUpRequests: 3_000,
      request: page,
    },
    {
      name: 'A search',
      of: 'homeward-uncached',
      status: 200,
      requestsMin: 24,
      warmUpRequests: 200,
      // Of which two search, and two wait.
      connectionsOfOneMax: 4,
      request: (key, number) => requestText('GET', `/v1/listings?${searches[number % searches.length]?.(samples)}`, key),
    },
    {
      name: 'An order',
      of: 'homeward',
      status: 201,
      requestsMin: 24,
      warmUpRequests: 500,
      request: (key) => {
        const { value, done } = petIds.next();
        if (done) throw new Error('every animal is ordered already');
        return orderText(key, value, value);
      },
    },
  ];
}

interface Load {
  readonly keys: readonly BenchKey[];
  readonly connections: number;
}

async function measureCell(contenders: Contenders, kind: Kind, load: Load): Promise<Pick<Figure, 'us' | 'ratio'>> {
  for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
    try {
      return await measureTurns(contenders, kind, load);
    } catch (error) {
      progress('');
      console.error(
        `${kind.name} with ${load.connections} connections, attempt ${attempt} of ${attemptsMax}: ${(error as Error).message.split('\r\n')[0]}`,
      );
    }
  }
  return { us: undefined, ratio: undefined };
}

/** Both take turns, so that other load on the machine affects them alike; a ratio is that of adjacent turns. */
async function measureTurns(contenders: Contenders, kind: Kind, { keys, connections }: Load): Promise<Pick<Figure, 'us' | 'ratio'>> {
  const names = [kind.of, ...(kind.beside ? [kind.beside] : [])];
  await using resources = new AsyncDisposableStack();
  const sides: { pid: number; load: SocketLoad; spent: number[] }[] = [];
  for (const name of names) {
    const { origin, pid } = await contenders.get(name);
    sides.push({ pid, load: resources.use(await SocketLoad.open(origin, connections)), spent: [] });
  }
  const count = Math.max(kind.requestsMin, 3 * connections);
  for (let turn = 0; turn < warmingTurns + turns; turn += 1) {
    const requests = Array.from({ length: count }, (_, i) => kind.request(keyAt(keys, turn * count + i), turn * count + i));
    for (const { pid, load, spent } of turn % 2 === 0 ? sides : sides.toReversed()) {
      const us = await measureRequests(requests, { pid, load, status: kind.status });
      if (turn >= warmingTurns) spent.push(us);
    }
  }
  const [own, beside] = sides.map(({ spent }) => spent);
  return {
    us: spreadOf(own ?? []),
    ratio: beside && spreadOf((own ?? []).map((us, turn) => us / (beside[turn] ?? Number.NaN))),
  };
}

function print(figures: readonly Figure[]): void {
  console.log(
    "CPU time of the service's process for a request, in µs, and as a multiple of what bare Fastify takes to send the same bytes",
  );
  console.log(`  the median of ${turns} turns and, in brackets, the lowest and the highest\n`);
  const cells = ({ us, ratio }: Partial<Figure> = {}) => [
    us ? us.median.toFixed(0) : '–',
    us ? `(${us.min.toFixed(0)}–${us.max.toFixed(0)})` : '',
    ratio ? `${ratio.median.toFixed(1)} ×` : '',
    ratio ? `(${ratio.min.toFixed(1)}–${ratio.max.toFixed(1)})` : '',
  ];
  for (const [kind, ofKind] of Map.groupBy(figures, (one) => one.kind)) {
    const rows = connectionCounts.map((connections) => {
      const found = (clients: Clients) => ofKind.find((one) => one.clients === clients && one.connections === connections);
      return [`${connections}`, ...(Object.keys(clientsTitles) as Clients[]).flatMap((clients) => cells(found(clients)))];
    });
    console.log(kind);
    printRows([['connections', ...Object.values(clientsTitles).flatMap((title) => [title, '', '', ''])], ...rows]);
  }
}
