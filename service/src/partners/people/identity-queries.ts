import type { Db, Transaction } from '../../platform/db/handles.ts';
import { type Person, type PersonRow, personColumns, personOf } from './person-queries.ts';

export async function findPersonByIdentity(db: Db, issuer: string, subject: string): Promise<Person | undefined> {
  const { rows } = await db.query<PersonRow>({
    name: 'person-by-identity',
    text: `select ${personColumns} from identities join people on people.id = person_id
      where issuer = $1 and subject = $2 and removed_at is null`,
    values: [issuer, subject],
  });
  return rows[0] && personOf(rows[0]);
}

/** False: the account is somebody's already. */
export async function insertIdentity(tx: Transaction, issuer: string, subject: string, personId: bigint): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'insert-identity',
    text: 'insert into identities (issuer, subject, person_id) values ($1, $2, $3) on conflict (issuer, subject) do nothing',
    values: [issuer, subject, personId],
  });
  return rowCount === 1;
}

export async function isIdentified(db: Db, personId: bigint): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'is-identified',
    text: 'select from identities where person_id = $1 limit 1',
    values: [personId],
  });
  return rowCount === 1;
}
