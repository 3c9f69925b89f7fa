import path from 'node:path';
import { runCommand } from './command.ts';
import { changedAtMs } from './file-times.ts';

const installTimeoutMs = 5 * 60_000;

/** Installs what only one command needs, by the lockfile in `folder`, unless that was done since the lockfile last changed. */
export async function installOnDemand(folder: string, what: string): Promise<void> {
  if (changedAtMs(path.join(folder, 'node_modules/.package-lock.json')) >= changedAtMs(path.join(folder, 'package-lock.json'))) return;
  console.error(`Installing ${what}, once …`);
  const args = ['ci', '--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund'];
  const { status, output } = await runCommand('npm', args, { timeoutMs: installTimeoutMs });
  if (status !== 0) throw new Error(`npm ci in ${folder} ended with status ${status}:\n${output}`);
}
