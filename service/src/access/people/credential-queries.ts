import type { Db, Transaction, Writer } from '../../platform/db/handles.ts';
import { type Person, type PersonRow, personColumns, personOf } from './person-queries.ts';

export interface NewPasskey {
  /** In base64url, as browsers and @simplewebauthn write it. */
  readonly credentialId: string;
  readonly publicKey: Uint8Array;
  readonly counter: number;
  readonly transports: readonly string[];
  readonly name: string;
}

export interface Passkey extends NewPasskey {
  readonly id: bigint;
  readonly personId: bigint;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
}

const passkeyColumns = `passkeys.id as "passkeyId", person_id as "personId", credential_id as "credentialId", public_key as "publicKey", counter,
  transports, passkeys.name as "passkeyName", passkeys.created_at as "addedAt", last_used_at as "lastUsedAt"`;

interface PasskeyRow {
  readonly passkeyId: bigint;
  readonly personId: bigint;
  readonly credentialId: Buffer;
  readonly publicKey: Buffer;
  readonly counter: bigint;
  readonly transports: string[];
  readonly passkeyName: string;
  readonly addedAt: Date;
  readonly lastUsedAt: Date | null;
}

const passkeyOf = ({
  passkeyId,
  personId,
  credentialId,
  publicKey,
  counter,
  transports,
  passkeyName,
  addedAt,
  lastUsedAt,
}: PasskeyRow): Passkey => ({
  id: passkeyId,
  personId,
  credentialId: credentialId.toString('base64url'),
  publicKey: new Uint8Array(publicKey),
  counter: Number(counter),
  transports,
  name: passkeyName,
  createdAt: addedAt,
  lastUsedAt,
});

const bytesOf = (credentialId: string): Buffer => Buffer.from(credentialId, 'base64url');

export async function selectPasskeys(db: Db, personId: bigint, limit: number): Promise<Passkey[]> {
  const { rows } = await db.query<PasskeyRow>({
    name: 'passkeys',
    text: `select ${passkeyColumns} from passkeys where person_id = $1 order by id limit $2`,
    values: [personId, limit],
  });
  return rows.map(passkeyOf);
}

/** Undefined: it was added before, for this person or for another. */
export async function insertPasskey(tx: Transaction, personId: bigint, passkey: NewPasskey): Promise<Passkey | undefined> {
  const { rows } = await tx.query<PasskeyRow>({
    name: 'insert-passkey',
    text: `insert into passkeys (person_id, credential_id, public_key, counter, transports, name) values ($1, $2, $3, $4, $5, $6)
      on conflict (credential_id) do nothing returning ${passkeyColumns}`,
    values: [personId, bytesOf(passkey.credentialId), Buffer.from(passkey.publicKey), passkey.counter, passkey.transports, passkey.name],
  });
  return rows[0] && passkeyOf(rows[0]);
}

export async function findPasskeyByCredential(db: Db, credentialId: string): Promise<{ passkey: Passkey; person: Person } | undefined> {
  const { rows } = await db.query<PersonRow & PasskeyRow>({
    name: 'passkey',
    text: `select ${personColumns}, ${passkeyColumns} from passkeys join people on people.id = person_id
      where credential_id = $1 and removed_at is null`,
    values: [bytesOf(credentialId)],
  });
  const [row] = rows;
  return row && { passkey: passkeyOf(row), person: personOf(row) };
}

/** False: the counter has not grown, so that two authenticators have the same key. Those that don't count stay at 0. */
export async function updateCounter(db: Writer, id: bigint, counter: number): Promise<boolean> {
  const { rowCount } = await db.write({
    name: 'use-passkey',
    text: 'update passkeys set counter = $2, last_used_at = now() where id = $1 and (counter < $2 or (counter = 0 and $2 = 0))',
    values: [id, counter],
  });
  return rowCount === 1;
}

export async function updatePasskeyName(db: Writer, personId: bigint, id: bigint, name: string): Promise<boolean> {
  const { rowCount } = await db.write({
    name: 'rename-passkey',
    text: 'update passkeys set name = $3 where id = $2 and person_id = $1',
    values: [personId, id, name],
  });
  return rowCount === 1;
}

/** After a restore. False: there is no such passkey, or one that was added after `at` has the id. */
export async function deletePasskeyFromBefore(tx: Transaction, id: bigint, at: Date): Promise<boolean> {
  const { rowCount } = await tx.query({
    text: `delete from passkeys where id = $1 and created_at <= $2::timestamptz + interval '1 minute'`,
    values: [id, at],
  });
  return rowCount === 1;
}

/** Returns its name. Undefined: the person has no such passkey. */
export async function deletePasskey(tx: Transaction, personId: bigint, id: bigint): Promise<string | undefined> {
  const { rows } = await tx.query<{ name: string }>({
    name: 'delete-passkey',
    text: 'delete from passkeys where id = $2 and person_id = $1 returning name',
    values: [personId, id],
  });
  return rows[0]?.name;
}

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

/** False: it was used before. */
export async function insertUsedValue(tx: Transaction, purpose: string, hash: Buffer, expiresAt: Date): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'insert-used-value',
    text: 'insert into used_values (purpose, hash, expires_at) values ($1, $2, $3) on conflict (purpose, hash) do nothing',
    values: [purpose, hash, expiresAt],
  });
  return rowCount === 1;
}

/** Those that have ended. A minute later, by which clocks may differ: a value that still counts elsewhere is not forgotten here. */
export async function deleteUsedValues(db: Writer, limit: number): Promise<number> {
  const { rowCount } = await db.write({
    name: 'delete-used-values',
    text: `delete from used_values where (purpose, hash) in (
      select purpose, hash from used_values where expires_at < now() - interval '1 minute' order by expires_at limit $1 for update skip locked)`,
    values: [limit],
  });
  return rowCount ?? 0;
}
