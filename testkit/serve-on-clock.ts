// `homeward serve` with a clock that runs faster than real time, so that a proof need not wait for minutes.
//   node serve-on-clock.ts START RATE
import { serve } from '../service/src/cli/processes/serve.ts';
import { loadConfig } from '../service/src/platform/config.ts';

process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
process.channel?.unref();

const [start = 0, rate = 1] = process.argv.slice(2).map(Number);
await serve(loadConfig(process.env), { clock: { now: () => Math.floor(start + (Date.now() - start) * rate) } });
