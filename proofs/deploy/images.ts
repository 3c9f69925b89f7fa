// Builds the image of a checkout, and stand-ins for the public images that it and compose.yaml need.
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type CleanCheckout, cleanEnvironment } from '../../testkit/clean-checkout.ts';
import { requirePrograms, run } from './programs.ts';

const here = fileURLToPath(new URL('.', import.meta.url));
const buildTimeoutMs = 20 * 60_000;
const prefix = 'localhost/homeward-proof';

/** A clean checkout has no git. */
export const proofCommit = 'proof';
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
  ALERTMANAGER_IMAGE: `${prefix}/alertmanager`,
  NODE_EXPORTER_IMAGE: `${prefix}/node-exporter`,
};

export const nodeImage = `${prefix}/node:${process.versions.node}`;
/** Without the isolation of a container engine, which needs more rights than a build machine may have. */
export const buildOptions = ['--isolation=chroot', '--network=host', '--layers', '--format=docker'];
const standIns = ['postgres', 'redis', 'haproxy', 'prometheus', 'alertmanager', 'node-exporter', 'machine'];

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

/** Builds everything that the trials need. */
export async function buildImages(checkout: CleanCheckout, progress: (text: string) => void): Promise<BuiltRelease> {
  await buildStandIns(progress);
  const release = await buildRelease(checkout.folder, proofCommit, progress);
  await run('podman', ['tag', release.image, homewardImage], { env: containerEnv });
  return release;
}

/** The images that a machine with a registry would load. */
export async function buildStandIns(progress: (text: string) => void): Promise<void> {
  const npm = path.join(execFileSync('npm', ['root', '--global'], { encoding: 'utf8' }).trim(), 'npm');
  progress('base images');
  await run(path.join(here, 'make-base-images.sh'), [process.execPath, npm], { env: containerEnv, timeoutMs: buildTimeoutMs });
  for (const target of standIns) {
    progress(`a stand-in for ${target}`);
    const args = ['build', ...buildOptions, '--target', target, '--tag', `${prefix}/${target}`, path.join(here, 'stand-ins')];
    await run('podman', args, { env: containerEnv, timeoutMs: buildTimeoutMs });
  }
}

export interface BuiltRelease {
  /** The name that deploy/image/build has printed. */
  readonly image: string;
  /** What is released, in one folder: the image as a file, the Debian package, their SBOMs and SHA-256. */
  readonly files: string;
  /** The path of the Debian package. */
  readonly package: string;
}

/** By the scripts that the release workflow calls. `commit`: the folder is one without git. */
export async function buildRelease(folder: string, commit: string, progress: (text: string) => void): Promise<BuiltRelease> {
  const files = path.join(folder, 'released');
  mkdirSync(files, { recursive: true });
  const env = {
    ...cleanEnvironment(),
    ...containerEnv,
    CONTAINER_ENGINE: 'podman',
    REVISION: commit,
    REVISION_TIME: '1763337600',
  };
  // Without the variables of `npm run`, by which npm would work in another folder.
  const clean = ['--ignore-environment', ...Object.entries(env).map(([name, value]) => `${name}=${value}`)];
  const script = (file: string, args: readonly string[]) =>
    run('env', [...clean, path.join(folder, file), ...args], { cwd: folder, timeoutMs: buildTimeoutMs });
  progress('the image');
  const image = await script('deploy/image/build', ['--to', files, '--from', nodeImage, ...buildOptions]);
  progress('the Debian package');
  const debianPackage = await script('deploy/systemd/build-deb', [files]);
  return { image: image.trim(), files, package: debianPackage.trim() };
}
