// Memory of one process under full load: npm run bench -- memory [--minutes N] [--json]
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { memoryOf } from '../testkit/memory-watch.ts';
import { quantile } from '../testkit/quantile.ts';
import { Contenders } from './contenders.ts';
import { writeRequests } from './mix.ts';
import { runWrk } from './wrk.ts';

const sampleMs = 1_000;
const warmUpMinutes = 2;
const spreadMax = 0.05;
const minutesMax = 1_440;

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '10' }, json: { type: 'boolean', default: false } } });
const minutes = Number(values.minutes);
if (Number.isInteger(minutes) && minutes > warmUpMinutes && minutes <= minutesMax) process.exitCode = await measure();
else {
  console.error(`--minutes must be an integer from ${warmUpMinutes + 1} to ${minutesMax}; got "${values.minutes}".`);
  process.exitCode = 2;
}

/** Requests lists with many keys, as fast as the service responds. */
async function measure(): Promise<number> {
  const folder = mkdtempSync(path.join(tmpdir(), 'homeward-bench-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  await using contenders = await Contenders.open(folder);
  const { keys, pages } = contenders;
  const requestsFile = path.join(folder, 'memory.requests');
  writeRequests(requestsFile, { keys, pages, load: 'list' });
  const { origin, pid } = await contenders.get('homeward');
  const loading = runWrk(origin, requestsFile, minutes * 60);
  const byMinute = await sample(pid);
  const { perSecond } = await loading;
  const settled = byMinute.slice(warmUpMinutes);
  const spread = (Math.max(...settled) - Math.min(...settled)) / quantile(settled, 0.5);
  console.log(`Resident memory under ${Math.round(perSecond).toLocaleString('en')} lists a second, the median of each minute, in MB:`);
  console.log(`  ${byMinute.map((megabytes) => megabytes.toFixed(0)).join(' ')}`);
  console.log(`  spread after minute ${warmUpMinutes}: ${(spread * 100).toFixed(1)} % (bar: ${spreadMax * 100} %)`);
  if (values.json) console.log(JSON.stringify({ minutes, perSecond, megabytesByMinute: byMinute, spread }));
  return spread <= spreadMax ? 0 : 1;
}

async function sample(pid: number): Promise<number[]> {
  const samples: number[][] = Array.from({ length: minutes }, () => []);
  const startMs = performance.now();
  const minuteNow = () => Math.floor((performance.now() - startMs) / 60_000);
  for (let minute = 0; minute < minutes; minute = minuteNow()) {
    samples[minute]?.push(memoryOf(pid) / 1_048_576);
    if (process.stderr.isTTY) process.stderr.write(`\r\x1b[Kminute ${minute + 1} of ${minutes}: ${samples[minute]?.at(-1)?.toFixed(0)} MB`);
    await sleep(sampleMs);
  }
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
  return samples.map((one) => quantile(one, 0.5));
}
