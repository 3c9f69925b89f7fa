import { readdir, readFile, readlink } from 'node:fs/promises';

/** The process of this machine that listens on a port, as far as this user may know it. */
export interface Listener {
  readonly pid: number;
  /** The program, its script and its command, without folders. What follows may be a password. */
  readonly command: string;
  /** It was stopped by a signal, or a debugger holds it. */
  readonly isStopped: boolean;
  readonly openFiles: number;
  readonly openFilesMax: number;
}

/** Undefined if nothing listens there, if it is of another user, or if this is no Linux. */
export async function findListener(port: number): Promise<Listener | undefined> {
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
