import { existsSync, lstatSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** What `npm run dev` writes while it runs. tools/dev.ts writes it in this form. */
export interface DevServers {
  readonly pid: number;
  readonly env: Readonly<Record<'DATABASE_URL' | 'REDIS_URL' | 'PORT' | 'HOMEWARD_PHOTOS' | 'HOMEWARD_CONSOLE_URL', string>>;
}

/** Relative to the root of the checkout. */
export const devServersFile = '.homeward/dev-servers.json';

/**
 * The servers of the `npm run dev` that runs in this checkout. Undefined outside a checkout, and if none runs. An installed package
 * and a container image have no .git, so in production nothing is ever read. A file of another user, or one that others may write,
 * is ignored: it could lead a command, and the key that it creates, to their server.
 */
export function findDevServers(root: string, workingDirectory: string): DevServers | undefined {
  const file = path.join(root, devServersFile);
  const isInside = !path.relative(root, workingDirectory).startsWith('..');
  if (!isInside || !existsSync(path.join(root, '.git')) || !isPrivate(file)) return undefined;
  try {
    const servers = JSON.parse(readFileSync(file, 'utf8')) as DevServers;
    return isRunning(servers.pid) ? servers : undefined;
  } catch {
    // It is being written, or was cut off when its writer was killed.
    return undefined;
  }
}

/** What the environment sets wins, directly or by a file. */
export const withDevServers = (env: Readonly<Record<string, string | undefined>>, { env: servers }: DevServers) => {
  const isSet = (name: string) => Boolean(env[name] || env[`${name}_FILE`]);
  // The photos are those of its database.
  const wins = (name: string) => isSet(name) || (name === 'HOMEWARD_PHOTOS' && isSet('DATABASE_URL'));
  return { ...env, ...Object.fromEntries(Object.entries(servers).filter(([name]) => !wins(name))) };
};

function isPrivate(file: string): boolean {
  const found = lstatSync(file, { throwIfNoEntry: false });
  if (!found?.isFile()) return false;
  return found.uid === process.getuid?.() && (found.mode & 0o077) === 0;
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
