import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCommand } from '../tools/command.ts';

export class MissingTool extends Error {}

const peersFolder = fileURLToPath(new URL('./peers', import.meta.url));
const installTimeoutMs = 5 * 60_000;

export function requireTools(): void {
  if (!isOnPath('wrk')) throw new MissingTool('wrk, which makes the load, is not installed: apt-get install wrk, or brew install wrk');
  if (!isOnPath('pgbench')) throw new MissingTool('pgbench is not installed: apt-get install postgresql, or brew install postgresql@17');
}

/** Only this command needs the peers' packages, so only this command installs them. */
export async function installPeers(): Promise<void> {
  if (existsSync(path.join(peersFolder, 'node_modules'))) return;
  console.error('Installing the peers that Homeward is compared with (bench/peers), once …');
  const args = ['ci', '--prefix', peersFolder, '--ignore-scripts', '--no-audit', '--no-fund'];
  const { status, output } = await runCommand('npm', args, { timeoutMs: installTimeoutMs });
  if (status !== 0) throw new MissingTool(`npm ci in bench/peers ended with status ${status}:\n${output}`);
}

const isOnPath = (name: string) => (process.env['PATH'] ?? '').split(path.delimiter).some((folder) => existsSync(path.join(folder, name)));
