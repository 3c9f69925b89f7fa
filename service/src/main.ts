import { fileURLToPath } from 'node:url';
import { findDevServers } from './cli/processes/dev-servers.ts';
import { runProgram } from './cli/program.ts';

// If the launcher is killed, stop too: nothing else would stop this process.
process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
process.channel?.unref();

// The reader of the output may have read enough: homeward --help | head.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

const root = fileURLToPath(new URL('../..', import.meta.url));
const { DATABASE_URL, DATABASE_URL_FILE } = process.env;
const devServers = DATABASE_URL || DATABASE_URL_FILE ? undefined : findDevServers(root, process.cwd());
await runProgram(process.argv.slice(2), process.env, devServers);
