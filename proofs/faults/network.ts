// Network namespaces for one run: a bridge, three nodes, and two places for the store's processes and its callers. Nothing leaves the
// machine, and two runs don't meet, since each has a bridge of its own.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** `store` has the proof itself and most processes, `apart` those that are cut off together with a Redis. */
export const places = ['node1', 'node2', 'node3', 'store', 'apart'] as const;
export type Place = (typeof places)[number];

export const addresses: Readonly<Record<Place, string>> = {
  node1: '10.77.0.11',
  node2: '10.77.0.12',
  node3: '10.77.0.13',
  store: '10.77.0.10',
  apart: '10.77.0.20',
};

const keepalives = fileURLToPath(new URL('../../deploy/ha/sysctl.conf', import.meta.url));

/** The names of a run's namespaces. A process in one of them also uses those of the others. */
export class Namespaces {
  readonly prefix: string;

  constructor(prefix: string) {
    this.prefix = prefix;
  }

  get bridge(): string {
    return `${this.prefix}-bridge`;
  }

  of(place: Place): string {
    return `${this.prefix}-${place}`;
  }

  /** The words before a command that make it run there. The process has the id of the one that was started. */
  enter(place: Place): string[] {
    return ['nsenter', `--net=/run/netns/${this.of(place)}`];
  }

  pids(place: Place): number[] {
    return ip('netns', 'pids', this.of(place)).split('\n').filter(Boolean).map(Number);
  }

  /** Takes the cable out, or puts it back. */
  setLink(place: Place, state: 'up' | 'down'): void {
    ip('-n', this.bridge, 'link', 'set', `to-${place}`, state);
  }
}

/** The namespaces and a folder, until they are disposed of, with all that runs and is mounted in them. */
export class Network implements AsyncDisposable {
  readonly namespaces: Namespaces;
  readonly folder: string;
  readonly #guard: ChildProcess;

  private constructor(namespaces: Namespaces, folder: string, guard: ChildProcess) {
    this.namespaces = namespaces;
    this.folder = folder;
    this.#guard = guard;
  }

  static open(): Network {
    const namespaces = new Namespaces(`hw${process.pid}`);
    const folder = mkdtempSync(path.join(tmpdir(), 'homeward-faults-'));
    chmodSync(folder, 0o755);
    const network = new Network(namespaces, folder, startGuard(namespaces, folder));
    ip('netns', 'add', namespaces.bridge);
    ip('-n', namespaces.bridge, 'link', 'add', 'bridge', 'type', 'bridge');
    ip('-n', namespaces.bridge, 'link', 'set', 'bridge', 'up');
    for (const place of places) addPlace(namespaces, place);
    return network;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.#guard, 'exit');
    this.#guard.stdin?.end();
    await ended;
  }
}

function addPlace(namespaces: Namespaces, place: Place): void {
  const own = namespaces.of(place);
  ip('netns', 'add', own);
  ip('link', 'add', 'net', 'netns', own, 'type', 'veth', 'peer', 'name', `to-${place}`, 'netns', namespaces.bridge);
  ip('-n', namespaces.bridge, 'link', 'set', `to-${place}`, 'master', 'bridge', 'up');
  ip('-n', own, 'addr', 'add', `${addresses[place]}/24`, 'dev', 'net');
  ip('-n', own, 'link', 'set', 'net', 'up');
  ip('-n', own, 'link', 'set', 'lo', 'up');
  const settings = readFileSync(keepalives, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('net.'));
  const [program, ...args] = [...namespaces.enter(place), 'sysctl', '--quiet', '--write'];
  execFileSync(program, [...args, ...settings.map((line) => line.replaceAll(' ', ''))]);
}

/** Removes everything when its input closes, which also happens if this process is killed. It ends only what is in the run's namespaces. */
function startGuard(namespaces: Namespaces, folder: string): ChildProcess {
  const names = [...places.map((place) => namespaces.of(place)), namespaces.bridge];
  const script = `read -r _
folder=$0
for round in 1 2 3; do
  for name; do for pid in $(ip netns pids "$name"); do kill -KILL "$pid"; done; done
  sleep 0.1
done
for name; do ip netns del "$name"; done
while read -r _ mounted _; do case $mounted in "$folder"/*) umount --lazy "$mounted" ;; esac; done </proc/mounts
rm -rf "$folder"`;
  const guard = spawn('sh', ['-c', script, folder, ...names], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  guard.stdin?.on('error', () => {});
  return guard;
}

/** What is missing on this machine, or undefined if nothing is. */
export function findMissing(): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    return 'it needs root on Linux: it makes network namespaces (CAP_SYS_ADMIN, CAP_NET_ADMIN)';
  const name = `hw${process.pid}-right`;
  try {
    ip('netns', 'add', name);
    ip('-n', name, 'link', 'add', 'bridge', 'type', 'bridge');
  } catch (error) {
    return `it needs the right to make network namespaces (CAP_SYS_ADMIN and CAP_NET_ADMIN, in a container --privileged): ${firstLine(error)}`;
  } finally {
    try {
      ip('netns', 'del', name);
    } catch {
      // It was not made.
    }
  }
  const absent = packages.filter(({ program }) => !isInstalled(program)).map(({ name: one }) => one);
  return absent.length === 0 ? undefined : `packages are missing: apt-get install --no-install-recommends ${absent.join(' ')}`;
}

const packages = [
  { program: 'patroni', name: 'patroni python3-etcd' },
  { program: 'etcd', name: 'etcd-server' },
  { program: 'redis-sentinel', name: 'redis-sentinel' },
  { program: 'iptables', name: 'iptables' },
  { program: 'strace', name: 'strace' },
] as const;

function isInstalled(program: string): boolean {
  try {
    execFileSync('sh', ['-c', 'command -v "$0"', program], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

export function ip(...args: string[]): string {
  return execFileSync('ip', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

const firstLine = (error: unknown) =>
  (error instanceof Error ? error.message : String(error)).split('\n').find((line) => line !== '') ?? '';
