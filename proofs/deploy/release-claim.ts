// What the scripts of a release have built: names of version and commit, SBOMs and checksums.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Claim } from '../proof.ts';
import { type BuiltRelease, containerEnv } from './images.ts';
import { attempt, run } from './programs.ts';

const version = (JSON.parse(readFileSync(new URL('../../service/package.json', import.meta.url), 'utf8')) as { version: string }).version;

export async function releaseClaim({ image, files, package: debianPackage }: BuiltRelease, commit: string): Promise<Claim> {
  const listed = readdirSync(files);
  const sums = listed.filter((file) => file.endsWith('.sha256'));
  const checked = await attempt('sha256sum', ['--check', '--quiet', ...sums], { cwd: files });
  const unchecked = listed.filter((file) => !file.endsWith('.sha256') && !sums.includes(`${file}.sha256`));
  const sboms = listed.filter((file) => file.endsWith('.sbom.cdx.json'));
  const packages = sboms.map((file) => (JSON.parse(readFileSync(path.join(files, file), 'utf8')) as { components: unknown[] }).components);
  const labels = await run('podman', ['image', 'inspect', '--format', '{{index .Labels "org.opencontainers.image.revision"}}', image], {
    env: containerEnv,
  });
  const printed = await run('podman', ['run', '--rm', '--network=none', image, '--version'], { env: containerEnv });
  const control = await run('dpkg-deb', ['--field', debianPackage, 'Version']);
  const holds =
    image === `homeward:${version}-${commit}` &&
    labels.trim() === commit &&
    printed.trim() === `${version} (${commit})` &&
    new RegExp(`\\+\\d{14}\\.${commit}$`).test(control.trim()) &&
    control.startsWith(version) &&
    existsSync(debianPackage) &&
    checked.status === 0 &&
    sums.length === 4 &&
    unchecked.length === 0 &&
    packages.length === 2 &&
    packages.every((components) => components.length > 20);
  return {
    claim: 'What is released carries its version and commit, and each file has a SHA-256: an image and a package, each with its SBOM',
    bar: '4 files, 4 checksums that match',
    figure: `${image}, whose program says ${printed.trim()}; ${path.basename(debianPackage)}; ${listed.length - sums.length} files, ${sums.length} checksums, ${checked.status === 0 ? 'all match' : checked.stderr.trim()}; ${packages.map((components) => components.length).join(' and ')} packages in the SBOMs`,
    holds,
  };
}
