// A whole store on each version of PostgreSQL, in each environment that docs/compatibility.md lists. It writes that table.
import { rmSync } from 'node:fs';
import { makeAuthority } from '../../testkit/certificates.ts';
import { temporaryFolder } from '../../testkit/temporary-folder.ts';
import type { Claim, Proof, ProofContext } from '../proof.ts';
import { type Environment, environments, type Parts } from './environments.ts';
import { type Column, documentName, type Outcome, readTable, tableOf, works, writeTable } from './matrix-document.ts';
import { isSupported, postgresVersions, unpackPostgres } from './postgres-versions.ts';
import { ownRoot, tryStore } from './try-store.ts';

export const matrix: Proof = {
  name: 'matrix',
  promise: 'the store works on PostgreSQL 15 to 18, with TLS, IPv6, a managed login, the ACL of Redis, and Valkey',
  // Doctor also compares what only PostgreSQL 18 has.
  mutant: [{ file: 'operations/doctor/schema-queries.ts', from: " where contype <> 'n'", to: '' }],
  isNightly: true,
  runsAlone: true,
  parts: [...postgresVersions, ...environments.map(({ name }) => name)],
  run,
};

async function run({ parts: given, mutant, root, progress }: ProofContext): Promise<Claim[]> {
  const parts = mutant ? ['18', 'plain'] : given;
  const mustRun = Boolean(process.env['CI']);
  if (!isSupported)
    return [{ claim: 'The matrix is run', bar: 'on Linux, x64', figure: process.platform, holds: !mustRun, isNotRun: !mustRun }];
  const chosenOf = <T extends string>(names: readonly T[]) =>
    names.some((name) => parts.includes(name)) ? names.filter((name) => parts.includes(name)) : names;
  const rows = chosenOf(environments.map(({ name }) => name));
  const chosen = environments.filter(({ name }) => rows.includes(name));
  const versions = chosenOf(postgresVersions);
  using ca = makeAuthority();
  const columns: Column[] = [];
  for (const version of versions) {
    using programs = await unpackPostgres(version);
    const outcomes: Outcome[] = [];
    for (const environment of chosen) {
      progress(`PostgreSQL ${programs.release}, ${environment.name}`);
      outcomes.push(await tryOne(environment, { ca, binaries: programs.binaries }, root ?? ownRoot));
    }
    columns.push({ release: programs.release, outcomes });
  }
  return judge(chosen, columns, parts.length === 0);
}

async function tryOne(environment: Environment, parts: Omit<Parts, 'folder'>, root: string): Promise<Outcome> {
  if (environment.findObstacle?.()) return undefined;
  await using opened = new AsyncDisposableStack();
  const { path: folder } = opened.use(temporaryFolder('matrix'));
  opened.defer(() => rmSync(`${folder}.hba`, { force: true }));
  try {
    await tryStore(await environment.start(opened, { ...parts, folder }), folder, root);
    return works;
  } catch (error) {
    const { message, stderr = '' } = error as Error & { stderr?: string };
    return `${message} ${stderr}`.replace(/\s+/g, ' ').trim();
  }
}

function judge(chosen: readonly Environment[], columns: readonly Column[], isWhole: boolean): Claim[] {
  const cells = columns.flatMap(({ release, outcomes }) =>
    outcomes.map((outcome, index) => ({ name: `${release} ${chosen[index]?.name ?? ''}`, outcome })),
  );
  const failed = cells.filter(({ outcome }) => outcome !== undefined && outcome !== works);
  const tried = cells.filter(({ outcome }) => outcome !== undefined);
  const obstacles = new Set(chosen.flatMap((environment) => environment.findObstacle?.() ?? []));
  for (const { name, outcome } of failed) console.error(`${name}: ${outcome}`);
  const claims: Claim[] = [
    {
      claim: 'Stores that work: migrate, serve, worker, requests, verify, doctor without alarms, the expected schema',
      bar: `${tried.length} of ${tried.length}`,
      figure: `${tried.length - failed.length} of ${tried.length}${failed.length > 0 ? `, not: ${failed.map(({ name }) => name).join(', ')}` : ''}`,
      holds: failed.length === 0,
    },
    ...[...obstacles].map(
      (obstacle): Claim => ({
        claim: 'Every environment is tried',
        bar: 'where there is one',
        figure: obstacle,
        holds: true,
        isNotRun: true,
      }),
    ),
  ];
  if (!isWhole) return claims;
  const titles = chosen.map(({ title }) => title);
  const isSame = writeTable(tableOf(titles, columns, readTable()));
  const figure = isSame ? 'it is' : 'it was not, and is written now';
  return [...claims, { claim: `The table in ${documentName} is the one that was found`, bar: 'it is', figure, holds: isSame }];
}
