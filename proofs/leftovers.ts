// A run of the tests that is killed leaves nothing behind: neither servers nor processes of the store.
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Claim, Proof, ProofContext } from './proof.ts';

const root = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');
/** Together they start PostgreSQL, Redis, PgBouncer, `serve` and `worker`. */
const files = [
  'service/test/cli/launcher.test.ts',
  'service/test/platform/db/pgbouncer.test.ts',
  'service/test/operations/doctor/faults.test.ts',
];
const startWithinMs = 120_000;
const endWithinMs = 30_000;

export const leftovers: Proof = {
  name: 'leftovers',
  promise: 'a run of the tests that is killed leaves no process behind',
  isNightly: true,
  run,
};

async function run({ progress }: ProofContext): Promise<Claim[]> {
  const before = new Set(ownProcesses().map(({ pid }) => pid));
  const started = () => ownProcesses().filter(({ pid }) => !before.has(pid));
  progress('tests');
  const vitest = spawn(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', ...files], { cwd: root, stdio: 'ignore' });
  const isBusy = () => ['serve', 'postgres', 'pgbouncer'].every((word) => started().some(({ command }) => command.includes(word)));
  await until(isBusy, startWithinMs);
  const running = started();
  progress('all processes of the tests are killed');
  vitest.kill('SIGKILL');
  for (const { pid, command } of running) if (command.includes('vitest')) end(pid);
  await until(() => started().length === 0, endWithinMs);
  const left = started();
  return [
    {
      claim: `Processes that are left of ${running.length}, after the tests were killed in the middle`,
      bar: '0',
      figure: `${left.length}${left.map(({ command }) => `; ${command}`).join('')}`,
      holds: left.length === 0 && running.length > files.length,
    },
  ];
}

/** Those that were started in this checkout, or have their data in a folder of a test. */
function ownProcesses(): Array<{ readonly pid: number; readonly command: string }> {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && pid !== process.pid)
    .flatMap((pid) => {
      try {
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').slice(0, 100);
        return readlinkSync(`/proc/${pid}/cwd`).startsWith(root) || command.includes('/homeward-') ? [{ pid, command }] : [];
      } catch {
        // It has ended.
        return [];
      }
    });
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

async function until(isTrue: () => boolean, withinMs: number): Promise<void> {
  for (const deadlineMs = performance.now() + withinMs; performance.now() < deadlineMs; await sleep(50)) if (isTrue()) return;
}
