import { createProgram } from './cli/program.ts';

// If the launcher is killed, stop too: nothing else would stop this process.
process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
process.channel?.unref();

await createProgram(process.env).parseAsync();
