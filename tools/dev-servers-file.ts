import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type DevServers, devServersFile } from '../service/src/cli/processes/dev-servers.ts';

/** Lets the command line find these servers until it is disposed. Only this user may read the file: a URL may contain a password. */
export function publishServers(root: string, env: DevServers['env']): Disposable {
  const file = path.join(root, devServersFile);
  const temporary = `${file}.${process.pid}`;
  const { DATABASE_URL, REDIS_URL, PORT, HOMEWARD_PHOTOS, HOMEWARD_CONSOLE_URL } = env;
  const servers: DevServers = { pid: process.pid, env: { DATABASE_URL, REDIS_URL, PORT, HOMEWARD_PHOTOS, HOMEWARD_CONSOLE_URL } };
  writeFileSync(temporary, `${JSON.stringify(servers, null, 2)}\n`, { mode: 0o600 });
  renameSync(temporary, file);
  return {
    [Symbol.dispose]() {
      // A second run in this checkout may have replaced it.
      const isOurs = existsSync(file) && (JSON.parse(readFileSync(file, 'utf8')) as DevServers).pid === process.pid;
      if (isOurs) rmSync(file);
    },
  };
}
