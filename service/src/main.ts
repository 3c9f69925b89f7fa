import { createProgram } from './cli/program.ts';

// A launcher that was killed takes this process with it: nobody would be left to stop it.
process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
process.channel?.unref();

await createProgram(process.env).parseAsync();
