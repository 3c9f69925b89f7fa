import { useInvitation } from '../src/access/people/links.ts';
import { invitePerson, type Manager, type NewPerson, type Person } from '../src/access/people/people.ts';
import { findSession, openSession } from '../src/access/people/sessions.ts';
import { type PersonCaller, personCaller } from '../src/access/principals/principals.ts';
import { theService } from '../src/domain/actor.ts';
import { rightsOf } from '../src/domain/roles.ts';
import type { TestStore } from './test-store.ts';

export const origin = { network: '192.0.2.0/24' };

/** A command of an operator. */
export const operator: Manager = {
  clientId: null,
  keyId: null,
  personId: null,
  shelterId: null,
  acts: rightsOf('admin', null)?.acts ?? [],
  origin: { login: 'ada', host: 'store-1' },
};

let people = 0;

/** Someone who has accepted the invitation. Of the store unless a shelter is given. */
export async function join(
  { dependencies: { db } }: TestStore,
  { role = 'staff', shelterId = null, email, ...rest }: Partial<NewPerson> = {},
): Promise<Person> {
  people += 1;
  const address = email ?? `person-${people}@example.org`;
  const { token } = await db.transaction((tx) => invitePerson(tx, operator, { role, shelterId, email: address, ...rest }), theService);
  return db.transaction((tx) => useInvitation(tx, token, origin), theService);
}

/** The token of a new session. */
export async function signIn({ dependencies: { db } }: TestStore, { id }: Pick<Person, 'id'>): Promise<string> {
  return (await db.transaction((tx) => openSession(tx, id, { from: '192.0.2.7', method: 'link' }), theService)).token;
}

/** The person as the operations know callers. */
export async function actAs(store: TestStore, person: Pick<Person, 'id'>): Promise<PersonCaller> {
  const found = await findSession(store.dependencies.db, await signIn(store, person));
  if (!found) throw new Error('a new session is not found');
  return personCaller(found, '192.0.2.7');
}
