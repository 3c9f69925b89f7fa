// Webhooks are sent to URLs that untrusted clients choose: none may reach the network that the service runs in.
import { connect as connectTo, createServer, type Server } from 'node:net';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { SafeSender, SenderOptions } from '../../service/src/changes/delivery/safe-sender.ts';
import { newSecret } from '../../service/src/changes/webhooks/target-urls.ts';
import { castOf, queryStore } from '../../testkit/adopters.ts';
import { HttpClient } from '../../testkit/http.ts';
import { Store } from '../../testkit/store.ts';
import { until } from '../../testkit/until.ts';
import type { Claim, Proof, ProofContext } from '../proof.ts';
import { loopbackHosts, privateAddresses, privateHosts } from './ssrf-corpus.ts';

export const ssrf: Proof = {
  name: 'ssrf',
  promise: 'webhooks reach only public addresses, whatever a URL, a name server or a redirect says',
  mutant: [{ file: 'changes/webhooks/target-urls.ts', from: "return parsed.range() === 'unicast';", to: 'return true;' }],
  isNightly: true,
  about: ['service/src/changes/delivery', 'service/src/changes/webhooks', 'proofs/ssrf'],
  run,
};

const ownRoot = fileURLToPath(new URL('../..', import.meta.url));
const publicAddress = '93.184.216.34';
const redirects = [301, 302, 303, 307, 308];
const message = { headers: { 'webhook-id': 'evt_1' }, body: '{}' };

async function run({ short, root, progress }: ProofContext): Promise<Claim[]> {
  const sender: { SafeSender: typeof SafeSender } = await import(
    pathToFileURL(path.join(root ?? ownRoot, 'service/src/changes/delivery/safe-sender.ts')).href
  );
  await using trap = await Trap.open();
  progress('literal addresses');
  const literals = await sendToLiterals(sender.SafeSender, short ? 2_000 : 50_000);
  progress('rebinding');
  const rebinding = await sendWhileRebinding(sender.SafeSender, trap, short ? 200 : 5_000);
  progress('redirects');
  const redirected = await sendToRedirects(sender.SafeSender, trap);
  progress('worker');
  const worker = await sendByWorker(root, trap);
  return [literals, rebinding, redirected, worker];
}

/** A listener that counts connections to this machine. */
class Trap implements AsyncDisposable {
  readonly port: number;
  connections = 0;
  readonly #servers: Server[];

  private constructor(servers: Server[], port: number) {
    this.#servers = servers;
    this.port = port;
    for (const server of servers)
      server.on('connection', (socket) => {
        this.connections += 1;
        socket.destroy();
      });
  }

  static async open(): Promise<Trap> {
    const four = await listen('0.0.0.0', 0);
    const { port } = four.address() as { port: number };
    const six = await listen('::1', port).catch(() => undefined);
    return new Trap(six ? [four, six] : [four], port);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#servers.map((server) => new Promise((resolve) => server.close(resolve))));
  }
}

/** Without a network: the addresses that would be connected to are recorded. */
async function sendToLiterals(Sender: typeof SafeSender, count: number): Promise<Claim> {
  const dialled: string[] = [];
  const dial: SenderOptions['dial'] = ({ hostname }, callback) => {
    dialled.push(hostname);
    callback(new Error('recorded'), null);
  };
  const resolve = async (host: string) => (host === 'public.example' ? [publicAddress] : privateAddresses(1));
  const sender = new Sender({ toLoopback: false, resolve, dial });
  const hosts = privateHosts(count);
  for (const host of hosts) await sender.send({ ...message, url: `https://${host}/` });
  const wrong = dialled.length;
  for (const host of ['public.example', publicAddress, '[2606:4700::1111]']) await sender.send({ ...message, url: `https://${host}/` });
  await sender.close();
  return {
    claim: 'Connections to literal addresses that are not public (dotted, octal, hexadecimal, decimal, short, mapped and embedded in IPv6)',
    bar: '0',
    figure: `${wrong} of ${hosts.length.toLocaleString('en')}; to 3 public addresses: ${dialled.length - wrong}`,
    holds: wrong === 0 && dialled.length === 3,
  };
}

/** The name server returns a different address at each lookup; connections to the public address are redirected to a local server. */
async function sendWhileRebinding(Sender: typeof SafeSender, trap: Trap, count: number): Promise<Claim> {
  const receiver = await listen('127.0.0.1', 0);
  receiver.on('connection', (socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.end('HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n'));
  });
  const { port } = receiver.address() as { port: number };
  const dialled: string[] = [];
  const dial: SenderOptions['dial'] = ({ hostname }, callback) => {
    dialled.push(hostname);
    const socket = connectTo(hostname === publicAddress ? port : trap.port, '127.0.0.1', () => callback(null, socket));
    socket.once('error', (error) => callback(error, null));
  };
  const inside = privateAddresses(count);
  let lookups = 0;
  const resolve = async () => {
    lookups += 1;
    const address = inside[Math.floor(lookups / 4) % inside.length] ?? '127.0.0.1';
    return [[publicAddress], [address], [publicAddress, address], [address, publicAddress]][lookups % 4] ?? [];
  };
  const before = trap.connections;
  const sender = new Sender({ toLoopback: false, resolve, dial });
  let delivered = 0;
  for (let i = 0; i < count; i += 1) {
    const { status } = await sender.send({ ...message, url: `https://rebinding-${i}.example/` });
    if (status === 204) delivered += 1;
  }
  await sender.close();
  await new Promise((resolve_) => receiver.close(resolve_));
  const wrong = dialled.filter((address) => address !== publicAddress).length + trap.connections - before;
  return {
    claim: 'Connections to non-public addresses by names that resolve to public and other addresses in turn, or to both at once',
    bar: '0, and one lookup for each delivery',
    figure: `${wrong} of ${count.toLocaleString('en')} (${delivered.toLocaleString('en')} delivered, ${lookups.toLocaleString('en')} lookups)`,
    holds: wrong === 0 && lookups === count && delivered === Math.floor(count / 4),
  };
}

async function sendToRedirects(Sender: typeof SafeSender, trap: Trap): Promise<Claim> {
  const targets = loopbackHosts.flatMap((host) => [
    `http://${host}:${trap.port}/`,
    `https://${host}:${trap.port}/`,
    `//${host}:${trap.port}/`,
  ]);
  let location = '';
  let status = 0;
  const receiver = await listen('127.0.0.1', 0);
  receiver.on('connection', (socket) => {
    socket.on('error', () => {});
    socket.once('data', () =>
      socket.end(`HTTP/1.1 ${status} Elsewhere\r\nlocation: ${encodeURI(location)}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`),
    );
  });
  const { port } = receiver.address() as { port: number };
  const dial: SenderOptions['dial'] = (_, callback) => {
    const socket = connectTo(port, '127.0.0.1', () => callback(null, socket));
  };
  const before = trap.connections;
  const sender = new Sender({ toLoopback: false, resolve: async () => [publicAddress], dial });
  let responded = 0;
  let sent = 0;
  for (status of redirects) {
    for (location of targets) {
      sent += 1;
      if ((await sender.send({ ...message, url: 'https://public.example/' })).status === status) responded += 1;
    }
  }
  await sender.close();
  await new Promise((resolve) => receiver.close(resolve));
  return {
    claim: 'Redirects to this machine that were followed',
    bar: '0',
    figure: `${trap.connections - before} of ${sent}`,
    holds: trap.connections === before && responded === sent,
  };
}

/** End to end: the API rejects these URLs, and a worker does not send to them even if they are inserted into the table directly. */
async function sendByWorker(root: string | undefined, trap: Trap): Promise<Claim> {
  await using store = await Store.open({ processes: 1, root, env: { LOG_LEVEL: 'warn' } });
  const { partners } = await castOf(store, 1);
  const [partner] = partners;
  if (!partner) throw new Error('no partner');
  using http = new HttpClient();
  const url = store.processes[0]?.url ?? '';
  const before = trap.connections;
  const urls = loopbackHosts.flatMap((host) => [`http://${host}:${trap.port}/`, `https://${host}:${trap.port}/`]);
  let accepted = 0;
  for (const target of urls) {
    const { status } = await http.send(`${url}/webhooks`, { method: 'POST', key: partner.key, body: { url: target } });
    if (status !== 400) accepted += 1;
  }
  await queryStore(store, 'insert into webhooks (client_id, with_orders, secret, url) select $1, false, $3, unnest($2::text[])', [
    partner.clientId,
    urls,
    newSecret(),
  ]);
  // It sends a test to each new endpoint.
  store.work();
  const left = () =>
    queryStore<{ count: number }>(
      store,
      'select count(*)::int as count from webhooks where not exists (select from webhook_attempts where webhook_id = id)',
    );
  await until('the worker has tried all endpoints', async () => (await left())[0]?.count === 0);
  return {
    claim: 'Addresses of this machine that the API accepts, and that `homeward worker` connects to if they are in the table anyway',
    bar: '0 and 0',
    figure: `${accepted} of ${urls.length} and ${trap.connections - before} of ${urls.length}`,
    holds: accepted === 0 && trap.connections === before,
  };
}

async function listen(host: string, port: number): Promise<Server> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve));
  return server;
}
