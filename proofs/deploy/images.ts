// Builds the image of a checkout, and stand-ins for the public images that it and compose.yaml need.
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { CleanCheckout } from '../../testkit/clean-checkout.ts';
import { requirePrograms, run } from './programs.ts';

const here = fileURLToPath(new URL('.', import.meta.url));
const buildTimeoutMs = 20 * 60_000;
const prefix = 'localhost/homeward-proof';

export const homewardImage = `${prefix}/homeward:dev`;

/** For every program that uses containers. */
export const containerEnv = { CONTAINERS_CONF: path.join(here, 'containers.conf') };

/** By the variables of compose.yaml. */
export const imageVariables = {
  HOMEWARD_IMAGE: homewardImage,
  POSTGRES_IMAGE: `${prefix}/postgres`,
  REDIS_IMAGE: `${prefix}/redis`,
  HAPROXY_IMAGE: `${prefix}/haproxy`,
  PROMETHEUS_IMAGE: `${prefix}/prometheus`,
};

const standIns = ['postgres', 'redis', 'haproxy', 'prometheus', 'machine'];

export function requireContainers(): void {
  if (process.getuid?.() !== 0) throw new Error('the long form of the proof deploy runs containers, and must be run as root');
  requirePrograms({
    podman: 'podman',
    buildah: 'buildah',
    runc: 'runc',
    mmdebstrap: 'mmdebstrap',
    netavark: 'netavark',
    'aardvark-dns': 'aardvark-dns',
    iptables: 'iptables',
    'docker-compose': 'docker-compose',
    ip: 'iproute2',
    curl: 'curl',
  });
}

/** Builds everything that the trials need. The Debian package is in the folder that is returned. */
export async function buildImages(checkout: CleanCheckout, progress: (text: string) => void): Promise<{ packages: string }> {
  const npm = path.join(execFileSync('npm', ['root', '--global'], { encoding: 'utf8' }).trim(), 'npm');
  progress('base images');
  await run(path.join(here, 'make-base-images.sh'), [process.execPath, npm], { env: containerEnv, timeoutMs: buildTimeoutMs });
  progress('the image');
  await build(
    checkout.folder,
    ['--build-arg', `NODE_IMAGE=${prefix}/node:${process.versions.node}`, '--build-arg', 'REVISION=proof'],
    homewardImage,
  );
  for (const target of standIns) {
    progress(`a stand-in for ${target}`);
    await build(path.join(here, 'stand-ins'), ['--target', target], `${prefix}/${target}`);
  }
  progress('the Debian package');
  const packages = checkout.folder;
  const { status, output } = await checkout.shell('deploy/systemd/build-deb');
  if (status !== 0 || !readdirSync(packages).some((file) => file.endsWith('.deb'))) throw new Error(`build-deb failed:\n${output}`);
  return { packages };
}

async function build(folder: string, args: readonly string[], tag: string): Promise<void> {
  // Without the isolation of a container engine, which needs more rights than a build machine may have.
  const options = ['bud', '--isolation=chroot', '--network=host', '--layers', '--format=docker', '--tag', tag];
  await run('buildah', [...options, ...args, folder], { env: containerEnv, timeoutMs: buildTimeoutMs });
}
