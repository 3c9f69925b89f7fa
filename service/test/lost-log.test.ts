// Whoever reads the log of a process may stall, or end before it does: the process must stay small, and end when it is told to.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';

const source = new URL('../src/platform/log.ts', import.meta.url).href;
const endTimeoutMs = 15_000;

/** Logs until nobody reads it, then much at once, and ends. */
const script = `
import { openLog } from ${JSON.stringify(source)};
const { log, endLog } = openLog({ logLevel: 'info' });
process.once('SIGTERM', async () => {
  for (let i = 0; i < 10; i += 1) log.info('closing');
  await endLog();
  log.info('after the end');
  process.exit();
});
setInterval(() => {}, 1_000);
log.info('ready');`;

test('a process ends, although nobody reads its log any more', async () => {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    await once(child.stdout, 'data');
    child.stdout.destroy();
    await once(child.stdout, 'close');
    const ended = once(child, 'exit', { signal: AbortSignal.timeout(endTimeoutMs) });
    child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  } finally {
    child.kill('SIGKILL');
  }
});

test('all that was logged before the end is written', async () => {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text) => (output += text));
  await once(child.stdout, 'data');
  child.kill('SIGTERM');
  await once(child, 'close');
  expect(output.match(/"msg":"closing"/g)).toHaveLength(10);
  expect(output).not.toContain('after the end');
});

/** Logs 200 MB, which nobody reads, then goes on with little until it is read again. */
const floodScript = `
import { openLog } from ${JSON.stringify(source)};
const { log } = openLog({ logLevel: 'info' });
const text = 'x'.repeat(10_000);
for (let i = 0; i < 20_000; i += 1) log.info(text);
process.stderr.write(String(process.memoryUsage.rss()));
setInterval(() => log.info('still here'), 100);`;

test('lines that nobody reads are dropped beyond a bound, and their number is logged', async () => {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', floodScript], { stdio: ['ignore', 'pipe', 'pipe'] });
  try {
    const [rss] = await once(child.stderr, 'data');
    expect(Number(rss)).toBeLessThan(150_000_000);
    let lines = 0;
    let dropped: number | undefined;
    for await (const line of createInterface({ input: child.stdout })) {
      const { msg, lines: counted } = JSON.parse(line) as { msg: string; lines?: number };
      if (counted !== undefined) dropped = counted;
      else if (msg !== 'still here') lines += 1;
      if (dropped !== undefined && msg === 'still here') break;
    }
    expect(lines + (dropped ?? 0)).toBeGreaterThanOrEqual(20_000);
    expect(lines).toBeLessThan(1_000);
  } finally {
    child.kill('SIGKILL');
  }
});
