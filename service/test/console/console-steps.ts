// Setup steps for tests about the console.
import { randomBytes } from 'node:crypto';
import { createPet } from '../../src/animals/pets/pets.ts';
import { theService } from '../../src/domain/actor.ts';
import type { PetStatus } from '../../src/domain/pet-statuses.ts';
import type { TestConsole } from './test-console.ts';

export async function addShelter({ store }: TestConsole, name: string, timezone: string): Promise<bigint> {
  const [row] = await store.write<{ id: bigint }>('insert into shelters (name, timezone) values ($1, $2) returning id', name, timezone);
  if (!row) throw new Error('no shelter was added');
  return row.id;
}

interface NewAnimal {
  /** Null: the first. */
  readonly shelterId: bigint | null;
  readonly name?: string;
  readonly status?: PetStatus;
  readonly categoryId?: bigint;
}

export async function addAnimal({ store }: TestConsole, { shelterId, name = 'Biscuit', ...rest }: NewAnimal): Promise<bigint> {
  const pet = { name, categoryId: 1n, ...rest };
  const rules = { categories: 'open', shelterId, registrant: undefined } as const;
  return (await store.dependencies.catalogue.transaction((tx) => createPet(tx, pet, theService, rules), theService)).id;
}

/** A passkey that signs nothing: only its row is there. */
export async function addPasskeyRow({ store }: TestConsole, personId: bigint): Promise<bigint> {
  const [row] = await store.write<{ id: bigint }>(
    `insert into passkeys (person_id, credential_id, public_key, counter, name) values ($1, $2, $3, 0, 'Phone') returning id`,
    personId,
    randomBytes(32),
    randomBytes(77),
  );
  if (!row) throw new Error('no passkey was added');
  return row.id;
}

const tables = ['sessions', 'person_links', 'passkeys', 'identities', 'used_values', 'form_results', 'audit', 'people', 'mail'] as const;

/** How many rows each table has in which a stranger could leave one. */
export async function countRows({ store }: TestConsole): Promise<Record<string, number>> {
  const counts = tables.map(async (table) => {
    const [row] = await store.read<{ count: bigint }>(`select count(*) from ${table}`);
    return [table, Number(row?.count)] as const;
  });
  return Object.fromEntries(await Promise.all(counts));
}
