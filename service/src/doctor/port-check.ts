import { lookup } from 'node:dns/promises';
import { connect, isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { broken, type Finding, note, ok, within } from './finding.ts';

const timeoutMs = 3_000;

/**
 * Whether `serve` can listen there, or does. Connects, and never listens itself: a `serve` that starts at the same moment would find
 * the port taken.
 */
export async function checkPort(host: string, port: number): Promise<Finding> {
  if (port === 0) return ok('port', 'serve picks a free port (PORT is 0).');
  const addresses = await within(timeoutMs, `the look-up of ${host}`, addressesOf(host)).catch(() => []);
  const [address] = addresses;
  if (address === undefined) return broken('port', `The host "${host}" was not found.`, 'Correct HOST.');
  if (!isOwn(address))
    return broken('port', `HOST is ${host}, which is no address of this machine.`, 'Set HOST to one, or to 0.0.0.0 for all.');
  const target = reachable(address);
  const shown = `${target.includes(':') ? `[${target}]` : target}:${port}`;
  if (!(await accepts(target, port))) return ok('port', `Nothing listens on ${shown}, so serve can.`);
  const status = await readStatus(`http://${shown}/livez`);
  if (status !== 'alive') {
    const fix = `See which one: ss -ltnp 'sport = :${port}'. Stop it, or set PORT to another port.`;
    return broken('port', `Port ${port} is taken by another program: what responds on ${shown} is not Homeward.`, fix);
  }
  const readiness = await readStatus(`http://${shown}/readyz`);
  if (readiness === 'draining') return note('port', `Homeward on ${shown} is draining: it is being stopped.`, 'Start another one.');
  return ok('port', `Homeward responds on ${shown}: ${readiness ?? 'not ready'}.`);
}

async function addressesOf(host: string): Promise<string[]> {
  return isIP(host) ? [host] : (await lookup(host, { all: true })).map(({ address }) => address);
}

const everywhere: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };
const reachable = (address: string) => everywhere[address] ?? address;

function isOwn(address: string): boolean {
  if (address in everywhere || address.startsWith('127.') || address === '::1') return true;
  return Object.values(networkInterfaces()).some((each) => each?.some((one) => one.address === address));
}

function accepts(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: timeoutMs });
    const end = (accepted: boolean) => {
      socket.destroy();
      resolve(accepted);
    };
    socket.once('connect', () => end(true));
    for (const event of ['error', 'timeout']) socket.once(event, () => end(false));
  });
}

/** The field of that name, as Homeward's own checks of health send it. Undefined: it is something else, or does not reply. */
async function readStatus(url: string): Promise<string | undefined> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(timeoutMs), redirect: 'manual' });
    // Of another program it could be any number of bytes.
    if (Number(response.headers.get('content-length') ?? Infinity) > bodyBytesMax) return undefined;
    return ((await response.json()) as { status?: string }).status;
  } catch {
    return undefined;
  }
}

const bodyBytesMax = 1_000;
