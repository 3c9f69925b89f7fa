// The image and the package of the old release, as its own files build them.
import { readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { cleanEnvironment } from '../../testkit/clean-checkout.ts';
import { buildOptions, containerEnv, nodeImage } from '../deploy/images.ts';
import { run } from '../deploy/programs.ts';
import { releaseBefore } from '../release-before.ts';

const buildTimeoutMs = 20 * 60_000;
/** The tag that its compose.yaml has. */
const image = () => `homeward:${releaseBefore().version}`;

export interface OldRelease {
  readonly image: string;
  /** The path of the Debian package. */
  readonly package: string;
}

export async function buildOldRelease(root: string, progress: (text: string) => void): Promise<OldRelease> {
  // Links to the packages of this tree: it installs its own.
  for (const packages of ['node_modules', 'service/node_modules']) rmSync(path.join(root, packages), { force: true });
  progress('the image of the old release');
  const args = ['build', ...buildOptions, '--build-arg', `NODE_IMAGE=${nodeImage}`, '--tag', image(), root];
  await run('podman', args, { env: containerEnv, timeoutMs: buildTimeoutMs });
  progress('the package of the old release');
  const clean = ['--ignore-environment', ...Object.entries(cleanEnvironment()).map(([name, value]) => `${name}=${value}`)];
  await run('env', [...clean, path.join(root, 'deploy/systemd/build-deb'), root], { cwd: root, timeoutMs: buildTimeoutMs });
  const [file] = readdirSync(root).filter((name) => name.endsWith('.deb'));
  if (!file) throw new Error('the old release built no package');
  return { image: image(), package: path.join(root, file) };
}
