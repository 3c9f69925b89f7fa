import { lookup } from 'node:dns/promises';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { connect, isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { Config } from '../../platform/config.ts';
import { broken, type Judgement, note, ok, warning, within } from './finding.ts';

const timeoutMs = 5_000;
const responds = 'Homeward responds on';

interface Port {
  readonly variable: 'PORT' | 'HOMEWARD_METRICS_PORT' | 'HOMEWARD_CONSOLE_PORT';
  readonly hostVariable: 'HOST' | 'HOMEWARD_METRICS_HOST' | 'HOMEWARD_CONSOLE_HOST';
  readonly host: string;
  readonly port: number;
  /** What Homeward says there; undefined: it is something else. */
  recognise(url: string): Promise<string | undefined>;
}

/**
 * Whether a process can listen on its ports, or does. Connects, and never listens itself: a process that starts at the same moment
 * would find the port taken.
 */
export async function checkPorts({ host, port, metricsHost, metricsPort }: Config): Promise<readonly Judgement[]> {
  const api: Port = { variable: 'PORT', hostVariable: 'HOST', host, port, recognise: readReadiness };
  if (metricsPort === undefined) return [await checkPort(api)];
  const metrics = { variable: 'HOMEWARD_METRICS_PORT', hostVariable: 'HOMEWARD_METRICS_HOST' } as const;
  return Promise.all([api, { ...metrics, host: metricsHost, port: metricsPort, recognise: readMetrics }].map(checkPort));
}

/** The same for the console: its port, and what its /readyz says. A store may have none. Its URL is another check, which looks from outside. */
export async function checkConsole({ consoleHost: host, consolePort: port, consoleUrl }: Config, isLookedAt: boolean): Promise<Judgement> {
  const names = { variable: 'HOMEWARD_CONSOLE_PORT', hostVariable: 'HOMEWARD_CONSOLE_HOST' } as const;
  const judged = await checkPort({ ...names, host, port, recognise: readReadiness });
  const unseen = consoleUrl.startsWith('https:') && !isLookedAt ? ', which is looked at only with --url' : '';
  if (consoleUrl !== '') return { ...judged, found: `${judged.found} HOMEWARD_CONSOLE_URL is ${consoleUrl}${unseen}.` };
  if (!judged.found.startsWith(responds)) return ok('There is no console here: HOMEWARD_CONSOLE_URL is not set.');
  const found = `${judged.found} It is a console for this machine alone: HOMEWARD_CONSOLE_URL is not set.`;
  return note(found, 'For others to work with it, set it for every process to the https: URL of the console. Links begin with it.');
}

async function checkPort({ variable, hostVariable, host, port, recognise }: Port): Promise<Judgement> {
  if (port === 0) return ok(`A free port is picked (${variable} is 0).`);
  const [address] = await within(timeoutMs, `the look-up of ${host}`, addressesOf(host)).catch(() => []);
  if (address === undefined) return broken(`The host "${host}" was not found.`, `Correct ${hostVariable}.`);
  if (!isOwn(address)) {
    const fix = `Set ${hostVariable} to one, or to 0.0.0.0 for all.`;
    return broken(`${hostVariable} is ${host}, which is no address of this machine.`, fix);
  }
  const target = reachable(address);
  const shown = `${target.includes(':') ? `[${target}]` : target}:${port}`;
  const accepted = await accepts(target, port);
  if (accepted === 'late') {
    const fix = `See what listens there: ss -ltnp 'sport = :${port}'. If it is Homeward, it is too busy to reply.`;
    return warning(`${shown} (${variable}) accepts no connection within ${timeoutMs / 1_000} s.`, fix);
  }
  if (accepted === 'no') return ok(`Nothing listens on ${shown} (${variable}), so it can be used.`);
  const said = await recognise(`http://${shown}`);
  if (said !== undefined) return ok(`${responds} ${shown}: ${said}.`);
  const listener = await findListener(port);
  if (listener) {
    const silent = judgeSilent(listener, shown);
    if (silent) return silent;
  }
  const fix = `See which one: ss -ltnp 'sport = :${port}'. Stop it, or set ${variable} to another port.`;
  return broken(`Port ${port} is taken by another program: what responds on ${shown} is not Homeward.`, fix);
}

/** A process of the store that listens and does not respond as one; undefined if it is another program. */
function judgeSilent({ pid, command, isStopped, openFiles, openFilesMax }: Listener, shown: string): Judgement | undefined {
  const who = `Process ${pid} (${command})`;
  const start = 'Restart it: systemctl restart, or end it with its supervisor running.';
  if (isStopped)
    return broken(`${who} listens on ${shown} and was stopped, so that no request gets a response.`, `kill -CONT ${pid}, or restart it.`);
  if (openFiles >= openFilesMax) {
    const found = `${who} has ${openFiles} files and connections open, and may have ${openFilesMax} (nofile), so that it closes new connections.`;
    return broken(found, 'Raise the limit (LimitNOFILE in the unit, ulimit -n in a shell) and restart it.');
  }
  return /\b(serve|console)\b/.test(command) ? broken(`${who} listens on ${shown} and does not respond.`, start) : undefined;
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

function accepts(host: string, port: number): Promise<'yes' | 'no' | 'late'> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: timeoutMs });
    const end = (accepted: 'yes' | 'no' | 'late') => {
      socket.destroy();
      resolve(accepted);
    };
    socket.once('connect', () => end('yes'));
    socket.once('error', () => end('no'));
    socket.once('timeout', () => end('late'));
  });
}

async function readReadiness(url: string): Promise<string | undefined> {
  const isAlive = (await readText(`${url}/livez`)) === '{"status":"alive"}';
  return isAlive ? `it is ${/"status":"(\w+)"/.exec((await readText(`${url}/readyz`)) ?? '')?.[1] ?? 'not ready'}` : undefined;
}

const readMetrics = async (url: string) => ((await readText(`${url}/metrics`))?.includes('homeward_') ? 'it serves metrics' : undefined);

/** Undefined if it does not reply in time. Of another program it could be any number of bytes. */
async function readText(url: string): Promise<string | undefined> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(timeoutMs), redirect: 'manual' });
    if (Number(response.headers.get('content-length') ?? Infinity) <= bodyBytesMax) return await response.text();
    await response.body?.cancel();
    return undefined;
  } catch {
    return undefined;
  }
}

const bodyBytesMax = 10_000_000;

/** The process of this machine that listens on a port, as far as this user may know it. */
interface Listener {
  readonly pid: number;
  /** The program, its script and its command, without folders. What follows may be a password. */
  readonly command: string;
  /** It was stopped by a signal, or a debugger holds it. */
  readonly isStopped: boolean;
  readonly openFiles: number;
  readonly openFilesMax: number;
}

/** Undefined if nothing listens there, if it is of another user, or if this is no Linux. */
async function findListener(port: number): Promise<Listener | undefined> {
  const inodes = new Set((await Promise.all(['/proc/net/tcp', '/proc/net/tcp6'].map((file) => listeningInodes(file, port)))).flat());
  if (inodes.size === 0) return undefined;
  for (const pid of await readdir('/proc')) {
    if (!/^\d+$/.test(pid)) continue;
    const files = await readdir(`/proc/${pid}/fd`).catch(() => []);
    const links = await Promise.all(files.map((file) => readlink(`/proc/${pid}/fd/${file}`).catch(() => '')));
    if (links.some((link) => inodes.has(/^socket:\[(\d+)\]$/.exec(link)?.[1] ?? ''))) return describe(Number(pid), files.length);
  }
  return undefined;
}

/** Of the sockets that listen on the port, at any address. */
async function listeningInodes(file: string, port: number): Promise<string[]> {
  const lines = (await readFile(file, 'utf8').catch(() => '')).split('\n').slice(1);
  const ending = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return lines.flatMap((line) => {
    const [, local = '', , state, , , , , , inode = ''] = line.trim().split(/\s+/);
    return local.endsWith(ending) && state === listening ? [inode] : [];
  });
}

const listening = '0A';

async function describe(pid: number, openFiles: number): Promise<Listener> {
  const read = (name: string) => readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '');
  const [words, stat, limits] = await Promise.all([read('cmdline'), read('stat'), read('limits')]);
  const [program = '', ...args] = words.split('\0').filter(Boolean);
  // The name of the program, in parentheses, may contain anything.
  const state = stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3);
  return {
    pid,
    command: [program, ...args]
      .map((word) => word.replace(/^.*\//, ''))
      .slice(0, 3)
      .join(' ')
      .slice(0, 60),
    isStopped: state === 'T' || state === 't',
    openFiles,
    openFilesMax: Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? Infinity),
  };
}
