// 2,000 things that staff sign in with or work by, of which 200 are ended: what a restore and a failover must not revive.
import { randomBytes } from 'node:crypto';
import { removePasskey } from '../service/src/access/people/credentials.ts';
import { changePerson, type Manager, removePerson } from '../service/src/access/people/people.ts';
import { endSignInsOf } from '../service/src/access/people/raises.ts';
import type { PersonCaller } from '../service/src/access/principals/principals.ts';
import { theService } from '../service/src/domain/actor.ts';
import { rightsOf } from '../service/src/domain/roles.ts';
import type { Transactor } from '../service/src/platform/db/handles.ts';
import type { Journal } from '../service/src/platform/journal/journal.ts';
import { testAuthor } from './test-author.ts';

/** Of each kind: passkeys, roles, accounts at a provider, people. */
const ofEachKind = 500;
const endedOfEachKind = 50;
export const staffThings = 4 * ofEachKind;
export const staffEnds = 4 * endedOfEachKind;

/** Runs a statement that writes. */
type Write = (text: string) => Promise<unknown>;

/** All of one shelter, which is the first. */
export async function addStaffThings(write: Write, staffClient: bigint): Promise<void> {
  await write(`insert into staff_clients (shelter_id, client_id) values (0, ${staffClient}) on conflict do nothing`);
  await write(`insert into people (email, name, role) select 'staff-' || i || '@ends.example', 'Staff ' || i,
    case when i <= ${ofEachKind} then 'admin' else 'staff' end from generate_series(1, ${4 * ofEachKind}) as i`);
  const ofKind = (kind: number) =>
    `from people where email like 'staff-%@ends.example' and substring(email from 7 for position('@' in email) - 7)::int
      between ${kind * ofEachKind + 1} and ${(kind + 1) * ofEachKind}`;
  await write(`insert into passkeys (person_id, credential_id, public_key, counter, name)
    select id, decode(md5(id::text || '${randomBytes(8).toString('hex')}'), 'hex'), '\\x01', 0, 'Phone' ${ofKind(1)}`);
  await write(`insert into identities (issuer, subject, person_id) select 'https://id.ends.example', id::text, id ${ofKind(2)}`);
  await write(`insert into sessions (person_id, hash, method, network, expires_at)
    select id, sha256(email::bytea), 'link', '192.0.2.0/24', now() + interval '7 days' ${ofKind(3)}`);
}

/** Lowers the roles of 50 people, and ends 50 passkeys, 50 people's accounts, and 50 people, as the operations do. */
export async function endStaffThings(db: Transactor, journal: Journal): Promise<void> {
  const manager: Manager = { ...testAuthor, shelterId: null, acts: rightsOf('admin', null)?.acts ?? [] };
  const { rows } = await db.query<{ id: bigint; passkey: bigint | null }>({
    text: `select people.id, passkeys.id as passkey from people left join passkeys on person_id = people.id
      where email like 'staff-%@ends.example' and removed_at is null order by people.id`,
  });
  const some = (kind: number) => rows.slice(kind * ofEachKind, kind * ofEachKind + endedOfEachKind);
  for (const { id } of some(0)) await db.transaction((tx) => changePerson(tx, journal, manager, id, { role: 'staff' }), theService);
  for (const { id, passkey } of some(1)) {
    const by = { ...testAuthor, personId: id, keyId: null, shelterId: null } as unknown as PersonCaller;
    await db.transaction((tx) => removePasskey(tx, journal, by, passkey ?? 0n), theService);
  }
  for (const { id } of some(2)) await db.transaction((tx) => endSignInsOf(tx, journal, id), theService);
  for (const { id } of some(3)) await db.transaction((tx) => removePerson(tx, journal, manager, id), theService);
}

/** How many of the 200 are as they were before. `read` returns the first row. */
export async function countRevived(read: (text: string) => Promise<{ readonly count: number } | undefined>): Promise<number> {
  const kinds = ['role', 'passkey', 'account', 'person'] as const;
  const left = await read(`with staff as (select people.*, row_number() over (order by people.id) - 1 as place
      from people where email like 'staff-%@ends.example'),
    ended as (select *, place / ${ofEachKind} as kind from staff where place % ${ofEachKind} < ${endedOfEachKind})
    select count(*)::int as count from ended where case kind
      when ${kinds.indexOf('role')} then role = 'admin'
      when ${kinds.indexOf('passkey')} then exists (select from passkeys where person_id = ended.id)
      when ${kinds.indexOf('account')} then exists (select from identities where person_id = ended.id)
      else removed_at is null end`);
  return left?.count ?? -1;
}

/** How many of the 1,800 others are not as they were. */
export async function countEndedToo(read: (text: string) => Promise<{ readonly count: number } | undefined>): Promise<number> {
  const left = await read(`with staff as (select people.*, row_number() over (order by people.id) - 1 as place
      from people where email like 'staff-%@ends.example'),
    others as (select *, place / ${ofEachKind} as kind from staff where place % ${ofEachKind} >= ${endedOfEachKind})
    select count(*)::int as count from others where case kind
      when 0 then role = 'staff'
      when 1 then not exists (select from passkeys where person_id = others.id)
      when 2 then not exists (select from identities where person_id = others.id)
      else removed_at is not null end`);
  return left?.count ?? -1;
}
