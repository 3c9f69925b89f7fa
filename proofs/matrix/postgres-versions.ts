// The versions of PostgreSQL that the store is tried with, by packages of npm that contain the programs, pinned by a lockfile.
import { chmodSync, cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { installOnDemand } from '../../tools/install-on-demand.ts';

const folder = fileURLToPath(new URL('postgres-versions/', import.meta.url));

export const postgresVersions = ['15', '16', '17', '18'] as const;
export type PostgresVersion = (typeof postgresVersions)[number];

/** The packages are for this platform alone. */
export const isSupported = process.platform === 'linux' && process.arch === 'x64';

export interface PostgresPrograms extends Disposable {
  /** The folder with initdb and postgres. */
  readonly binaries: string;
  /** Such as 17.10. */
  readonly release: string;
}

/** Copied to where the user that PostgreSQL runs as may read it, with the links that a package can't contain. */
export async function unpackPostgres(version: PostgresVersion): Promise<PostgresPrograms> {
  await installOnDemand(folder, 'PostgreSQL 15 to 18 (proofs/matrix/postgres-versions)');
  const from = path.join(folder, 'node_modules', `postgres-${version}`);
  const to = mkdtempSync(path.join(tmpdir(), `homeward-postgres-${version}-`));
  chmodSync(to, 0o755);
  cpSync(path.join(from, 'native'), path.join(to, 'native'), { recursive: true });
  const links = JSON.parse(readFileSync(path.join(to, 'native/pg-symlinks.json'), 'utf8')) as { source: string; target: string }[];
  for (const { source, target } of links) symlinkSync(path.basename(source), path.join(to, target));
  const binaries = path.join(to, 'native/bin');
  for (const program of ['initdb', 'postgres']) chmodSync(path.join(binaries, program), 0o755);
  return { binaries, release: releaseOf(version), [Symbol.dispose]: () => rmSync(to, { recursive: true }) };
}

/** Such as 17.10, by the lockfile. */
export function releaseOf(version: PostgresVersion): string {
  const { packages } = JSON.parse(readFileSync(path.join(folder, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { version?: string }>;
  };
  return /^\d+\.\d+/.exec(packages[`node_modules/postgres-${version}`]?.version ?? '')?.[0] ?? '';
}
