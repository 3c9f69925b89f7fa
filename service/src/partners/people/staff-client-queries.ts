import type { Transaction } from '../../platform/db/handles.ts';

/** Waits for anyone who makes the client of this shelter at the same time. Undefined: there is none yet. */
export async function lockStaffClient(tx: Transaction, shelterId: bigint | null): Promise<bigint | undefined> {
  await tx.query({
    name: 'lock-staff-client',
    text: `select pg_advisory_xact_lock(hashtextextended('staff client', $1))`,
    values: [shelterId ?? 0n],
  });
  const { rows } = await tx.query<{ clientId: bigint }>({
    name: 'staff-client',
    text: 'select client_id as "clientId" from staff_clients where shelter_id = $1',
    values: [shelterId ?? 0n],
  });
  return rows[0]?.clientId;
}

export async function findShelterName(tx: Transaction, shelterId: bigint): Promise<string | undefined> {
  const { rows } = await tx.query<{ name: string }>({
    name: 'name-of-shelter-with-people',
    text: 'select name from shelters where id = $1',
    values: [shelterId],
  });
  return rows[0]?.name;
}

export async function insertStaffClient(tx: Transaction, shelterId: bigint | null, clientId: bigint): Promise<void> {
  await tx.query({
    name: 'insert-staff-client',
    text: 'insert into staff_clients (shelter_id, client_id) values ($1, $2)',
    values: [shelterId ?? 0n, clientId],
  });
}
