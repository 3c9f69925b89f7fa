// The procedures of the documents for the night: each is followed on a real store that has the trouble, by the commands of its page alone.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Claim, Proof, ProofContext } from '../proof.ts';
import { leakedKey } from './leaked-key.ts';
import { commandsOfSection } from './page-commands.ts';
import { photosGone } from './photos-gone.ts';
import { postgresFull } from './postgres-full.ts';
import type { Procedure } from './procedure.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** To add one: a page whose commands are blocks `sh`, and a `Procedure` that makes the trouble. */
export const procedures = {
  'leaked-key': leakedKey,
  'postgres-full': postgresFull,
  'photos-gone': photosGone,
} as const satisfies Record<string, Procedure>;

export const procedureNames = Object.keys(procedures) as Array<keyof typeof procedures>;

export const proceduresProof: Proof = {
  name: 'procedures',
  promise: 'the procedures of the documents end their trouble by the commands of the page alone, as they are written',
  hasMutant: true,
  isNightly: true,
  parts: procedureNames,
  run,
};

async function run({ mutant, parts, progress }: ProofContext): Promise<Claim[]> {
  const chosen = procedureNames.filter((name) => parts.length === 0 || parts.includes(name));
  const claims: Claim[] = [];
  for (const name of chosen) claims.push(...(await followPage(procedures[name], mutant, progress)));
  return claims;
}

function followPage({ file, heading, mutant: fault, run: runProcedure }: Procedure, mutant: boolean, progress: ProofContext['progress']) {
  const commands = commandsOfSection(readFileSync(path.join(root, file), 'utf8'), heading);
  if (!mutant) return runProcedure(commands, progress);
  const changed = commands.map((command) => command.replace(fault.from, fault.to));
  if (changed.join('\n') === commands.join('\n')) throw new Error(`the mutant replaces "${fault.from}", which ${file} does not contain`);
  return runProcedure(changed, progress);
}
