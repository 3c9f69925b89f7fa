// What each role may do, through the operations that routes and pages call: written out here, and not derived from the table of roles.

import { beforeAll, describe, expect, test } from 'vitest';
import { listActs } from '../../../src/access/audit/audit.ts';
import { invitePerson } from '../../../src/access/people/people.ts';
import type { PersonCaller } from '../../../src/access/principals/principals.ts';
import { settleApplications } from '../../../src/adoption/applications/settling.ts';
import { actOnOrder, findOpenOrder, findOrderedPets, getOrder, placeOrder } from '../../../src/adoption/orders/orders.ts';
import { setQuestions } from '../../../src/adoption/questions/questions.ts';
import { changeShelter } from '../../../src/adoption/shelters/shelters.ts';
import { verifyHistory } from '../../../src/adoption/verify/verify.ts';
import { addPetToCategory, changePet } from '../../../src/animals/pets/pets.ts';
import { writeProfile } from '../../../src/animals/profiles/profiles.ts';
import { theService, visibilityOf } from '../../../src/domain/actor.ts';
import { isRaise, mayDo, type Role, rightsOf } from '../../../src/domain/roles.ts';
import { actAs, join } from '../../people-steps.ts';
import { openTestStore } from '../../test-store.ts';

const store = await openTestStore();
const { db, catalogue } = store.dependencies;
const shelterIds = await store.write<{ id: bigint }>(`insert into shelters (name) values ('Danube'), ('Alps') returning id`);
const [danube = 0n, alps = 0n] = shelterIds.map(({ id }) => id);

const people = {
  'a volunteer of Danube': ['volunteer', danube],
  'staff of Danube': ['staff', danube],
  'an admin of Danube': ['admin', danube],
  'staff of the store': ['staff', null],
  'an admin of the store': ['admin', null],
} as const satisfies Record<string, readonly [Role, bigint | null]>;
type Who = keyof typeof people;

const callers = new Map<Who, PersonCaller>();
beforeAll(async () => {
  for (const [who, [role, shelterId]] of Object.entries(people))
    callers.set(who as Who, await actAs(store, await join(store, { role, shelterId })));
});

const categories = 'open';
const anything = { expect: () => {}, key: undefined };
const addAnimal = async (shelterId: bigint, by: PersonCaller | typeof theService = theService) => {
  const pet = await addPetToCategory(catalogue, { name: 'Biscuit', categoryId: 1n }, by, { shelterId });
  if (!pet) throw new Error('no category');
  return pet.id;
};

async function placedOrder(shelterId: bigint) {
  const { clientId } = await store.createKey();
  const petId = await addAnimal(shelterId);
  const client = { clientId, bounds: { openOrders: 10, openOrdersOfAdopter: 10 } };
  const adopter = { name: 'Ada', email: 'ada@example.org' };
  return catalogue.transaction((tx) => placeOrder(tx, { petId, adopter }, theService, { client, expiresInSeconds: 600 }), theService);
}

/** Each act in a shelter; it throws if it is not allowed. */
const acts = {
  'change an animal': async (by, shelterId) => {
    const options = {
      expect: () => {},
      categories,
      registrant: undefined,
      findOpenOrder,
      findOrderedPets,
      settleApplications,
    } as const;
    await changePet(catalogue, await addAnimal(shelterId), { status: 'pending' }, by, options);
  },
  'describe an animal': async (by, shelterId) => {
    const write = { how: 'merge', changes: { description: 'Likes walks.' }, nowMs: Date.now(), ...anything } as const;
    await writeProfile({ db, catalogue }, await addAnimal(shelterId), by, write);
  },
  'see an order': async (by, shelterId) => {
    await getOrder(db, visibilityOf(by), (await placedOrder(shelterId)).id);
  },
  'approve an order': async (by, shelterId) => {
    const { id } = await placedOrder(shelterId);
    await catalogue.transaction((tx) => actOnOrder(tx, id, 'approve', by, settleApplications), theService);
  },
  'change the shelter': async (by, shelterId) => {
    await changeShelter(catalogue, shelterId, { phone: String(Math.random()) }, { key: by, by, expect: () => {}, mails: false });
  },
  'set its questions': async (by, shelterId) => {
    await setQuestions(db, shelterId, [], { key: by, by, expect: () => {} });
  },
  'invite someone': async (by, shelterId) => {
    await db.transaction((tx) => invitePerson(tx, by, { email: `i${Math.random()}@example.org`, role: 'staff', shelterId }), theService);
  },
} as const satisfies Record<string, (by: PersonCaller, shelterId: bigint) => Promise<void>>;

const ofStaff = ['change an animal', 'describe an animal', 'see an order', 'approve an order', 'change the shelter', 'set its questions'];
const allowed: Readonly<Record<Who, { readonly danube: readonly string[]; readonly alps: readonly string[] }>> = {
  'a volunteer of Danube': { danube: ['describe an animal'], alps: [] },
  'staff of Danube': { danube: ofStaff, alps: [] },
  'an admin of Danube': { danube: [...ofStaff, 'invite someone'], alps: [] },
  'staff of the store': { danube: ofStaff, alps: ofStaff },
  'an admin of the store': { danube: [...ofStaff, 'invite someone'], alps: [...ofStaff, 'invite someone'] },
};

describe.each(Object.keys(people) as Who[])('%s', (who) => {
  test.each([
    ['danube', danube],
    ['alps', alps],
  ] as const)('may do in %s what is written here, and nothing else', async (place, shelterId) => {
    const by = callers.get(who);
    if (!by) throw new Error('nobody');
    const done: string[] = [];
    for (const [name, act] of Object.entries(acts))
      await act(by, shelterId).then(
        () => done.push(name),
        () => {},
      );
    expect(done).toEqual(allowed[who][place]);
  });
});

test('the store has no volunteers, and only its admins manage plans', () => {
  expect(rightsOf('volunteer', null)).toBeUndefined();
  const may = Object.entries(people).filter(([, [role, shelterId]]) => {
    const rights = rightsOf(role, shelterId);
    return rights && mayDo(rights, 'plans:manage', shelterId);
  });
  expect(may.map(([who]) => who)).toEqual(['an admin of the store']);
});

test('more rights are those of another place, scope or act, and nothing is more for an admin of the store', () => {
  const raised = (who: Who) =>
    Object.entries(people).flatMap(([other, [role, shelterId]]) => {
      const [from, at] = people[who];
      return isRaise({ role: from, shelterId: at }, { role, shelterId }) ? [other] : [];
    });
  expect(raised('a volunteer of Danube')).toEqual(['staff of Danube', 'an admin of Danube', 'staff of the store', 'an admin of the store']);
  expect(raised('staff of Danube')).toEqual(['an admin of Danube', 'staff of the store', 'an admin of the store']);
  expect(raised('an admin of Danube')).toEqual(['staff of the store', 'an admin of the store']);
  expect(raised('staff of the store')).toEqual(['an admin of Danube', 'an admin of the store']);
  expect(raised('an admin of the store')).toEqual([]);
  expect(isRaise({ role: 'admin', shelterId: danube }, { role: 'volunteer', shelterId: alps })).toBe(true);
  expect(isRaise({ role: 'admin', shelterId: null }, { role: 'admin', shelterId: alps })).toBe(false);
});

test('what a person does is in the history with the person, in the list of the audit, and verified', async () => {
  const by = await actAs(store, await join(store, { role: 'staff', shelterId: danube }));
  const petId = await addAnimal(danube, by);
  const order = await placedOrder(danube);
  await catalogue.transaction((tx) => actOnOrder(tx, order.id, 'approve', by, settleApplications), theService);
  const found = await listActs(db, { personId: by.personId, limit: 10 });
  expect(found).toMatchObject([
    { source: 'history', target: 'order', targetId: order.id, act: 'order_status', before: { status: 'placed' }, personId: by.personId },
    { source: 'history', target: 'animal', targetId: petId, act: 'pet_added' },
    { source: 'audit', act: 'session.started' },
    { source: 'audit', act: 'person.joined' },
  ]);
  expect(await listActs(db, { target: { kind: 'animal', id: petId }, limit: 10 })).toMatchObject([
    { act: 'pet_added', email: expect.any(String) },
  ]);
  expect(await listActs(db, { target: { kind: 'order', id: order.id }, personId: by.personId, limit: 10 })).toHaveLength(1);
  expect(await verifyHistory(db, () => {})).toMatchObject({ violation: undefined });
  await store.asOwner(`update history set person_id = 4711 where pet_id = ${petId}`);
  expect(await verifyHistory(db, () => {})).toMatchObject({
    violation: expect.stringContaining('person 4711 does not exist'),
  });
});
