// PostgreSQL alone: pgbench runs the statement with which Homeward adds an animal.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type pg from 'pg';
import type { CatalogueWriter } from '../service/src/animals/list-cache/catalogue.ts';
import { insertPet } from '../service/src/animals/pets/pet-queries.ts';
import { applicationRole } from '../service/src/platform/db/pool.ts';
import type { Store } from '../testkit/store.ts';
import { runCommand } from '../tools/command.ts';
import { poolSize } from './contenders.ts';
import { newAnimal } from './mix.ts';
import type { Measure } from './rounds.ts';
import { type BenchKey, keysPerClient } from './seed.ts';

const graceMs = 20_000;

export async function pgbench(store: Store, { keys, folder }: { keys: readonly BenchKey[]; folder: string }): Promise<Measure> {
  const script = path.join(folder, 'create.sql');
  writeFileSync(script, await writeScript(keys));
  const url = `${store.postgres.url}?options=${encodeURIComponent(`-c role=${applicationRole}`)}`;
  const variables = Object.entries({ name: newAnimal.name, category: newAnimal.categoryId, status: newAnimal.status });
  const defined = variables.map(([name, value]) => `--define=${name}=${value}`);
  return async (seconds) => {
    const args = ['-n', '-M', 'prepared', '-c', String(poolSize), '-j', '1', '-T', String(seconds), '-f', script, ...defined, url];
    const { status, stdout, output } = await runCommand('pgbench', args, { timeoutMs: seconds * 1_000 + graceMs });
    const tps = Number(/^tps = ([\d.]+)/m.exec(stdout)?.[1]);
    const requests = Number(/^number of transactions actually processed: (\d+)/m.exec(stdout)?.[1]);
    const failed = Number(/^number of failed transactions: (\d+)/m.exec(stdout)?.[1] ?? 0);
    if (status !== 0 || !(tps > 0) || !(requests > 0) || failed > 0) throw new Error(`pgbench ended with status ${status}: ${output}`);
    return { requests, perSecond: tps };
  };
}

/** Of the statement's parameters, in their order: the animal, its author, its shelter, whether its client owns it, and whether a hold follows. */
const values = [':name', ':category', ':status', ':client', ':key', '1', 'false', 'false'];

/** The statement that the service's own function sends; its parameters become variables of pgbench. */
async function writeScript(keys: readonly BenchKey[]): Promise<string> {
  const text = await statementOfInsert();
  const statement = text.replace(/\$(\d+)/g, (parameter, number: string) => {
    const value = values[Number(number) - 1];
    if (value === undefined)
      throw new Error(`the statement that adds an animal has a parameter ${parameter} that pgbench has no value for`);
    return value;
  });
  const [first] = keys;
  if (!first) throw new Error('there are no keys');
  return [
    `\\set key random(${first.id}, ${first.id + keys.length - 1})`,
    `\\set client ${first.clientId} + (:key - ${first.id}) / ${keysPerClient}`,
    `${statement};`,
    '',
  ].join('\n');
}

async function statementOfInsert(): Promise<string> {
  const sent: pg.QueryConfig[] = [];
  const catalogue: CatalogueWriter = {
    writePets: async (statement) => {
      sent.push(statement);
      return [];
    },
  };
  await insertPet(catalogue, { ...newAnimal, categoryId: BigInt(newAnimal.categoryId) }, { clientId: 1n, keyId: 1n, personId: null }, 1n);
  const [statement, ...more] = sent;
  if (!statement || more.length > 0) throw new Error('adding an animal is expected to be one statement');
  return statement.text;
}
