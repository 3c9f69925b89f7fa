import { fileURLToPath } from 'node:url';
import { isOnPath } from '../testkit/servers.ts';
import { installOnDemand } from '../tools/install-on-demand.ts';

export class MissingTool extends Error {}

const peersFolder = fileURLToPath(new URL('./peers', import.meta.url));

export function requireTools(): void {
  if (!isOnPath('wrk')) throw new MissingTool('wrk, which generates the load, is not installed: apt-get install wrk, or brew install wrk');
  if (!isOnPath('pgbench')) throw new MissingTool('pgbench is not installed: apt-get install postgresql, or brew install postgresql@17');
}

export async function installPeers(): Promise<void> {
  await installOnDemand(peersFolder, 'the peers that Homeward is compared with (bench/peers)').catch((error: Error) => {
    throw new MissingTool(error.message);
  });
}
