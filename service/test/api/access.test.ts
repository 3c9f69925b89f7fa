// Who may do what: every scope, bound to a shelter or not, on animals of its shelter and of another, and on orders and applications for them.
import { describe, expect, test } from 'vitest';
import type { Scope } from '../../src/domain/scopes.ts';
import { actAll, addPet, placeOrder } from '../adoption-steps.ts';
import { decideAll, submit } from '../application-steps.ts';
import { addShelter, createShelterKey } from '../shelter-steps.ts';
import { openTestStore, type TestKey, type TestStore } from '../test-store.ts';

// Written out, and not derived from the table of scopes: a change of the table must fail here.
const ofPartners: readonly Scope[] = ['pets:read', 'pets:write', 'orders:read', 'orders:write', 'applications:write', 'webhooks:manage'];
const scopeSets: ReadonlyArray<readonly Scope[]> = [
  [],
  ...[...ofPartners, 'shelter:manage' as const, 'store:manage' as const].map((scope) => [scope]),
  ofPartners,
  [...ofPartners, 'shelter:manage'],
  [...ofPartners, 'store:manage'],
  ['pets:write', 'shelter:manage', 'store:manage'],
];

interface Key {
  readonly scopes: readonly Scope[];
  readonly isBound: boolean;
}

const keys: readonly Key[] = scopeSets.flatMap((scopes) =>
  [true, false].flatMap((isBound) => (isBound || !scopes.includes('shelter:manage') ? { scopes, isBound } : [])),
);

/** Of this shelter: that which the bound keys are bound to. The last two were added without a shelter. */
type Place = 'this shelter' | 'another shelter' | 'none, by its client' | 'none, by another client';
type ShelterPlace = 'this shelter' | 'another shelter';
const shelterPlaces: readonly ShelterPlace[] = ['this shelter', 'another shelter'];
const places: readonly Place[] = [...shelterPlaces, 'none, by its client', 'none, by another client'];
type Owner = 'its client' | 'another client';

/** Which scope is enough for any animal, for one of the shelter that the key is bound to, and for one that its client added without one. */
interface Rule {
  readonly anywhere: readonly Scope[];
  readonly ownShelter: readonly Scope[];
  readonly ownClient: readonly Scope[];
}

const change: Rule = { anywhere: ['store:manage'], ownShelter: ['shelter:manage'], ownClient: [] };
const edit: Rule = { ...change, ownClient: ['pets:write'] };
const describing: Rule = { anywhere: ['store:manage'], ownShelter: ['shelter:manage', 'pets:write'], ownClient: ['pets:write'] };
const move: Rule = { anywhere: ['store:manage'], ownShelter: [], ownClient: [] };

/** Requests that change nothing if they are allowed, with the status that they have then. */
const onAnimals: ReadonlyArray<readonly [string, Rule, { status: number; body?: unknown; headers?: Record<string, string> }]> = [
  ['PATCH /v1/pets/:id', edit, { body: { name: 'Biscuit' }, status: 200 }],
  ['DELETE /v1/pets/:id', edit, { headers: { 'if-match': '"other"' }, status: 412 }],
  ['POST /v1/pets/:id/outcome', change, { body: { type: 'other' }, headers: { 'if-match': '"other"' }, status: 412 }],
  ['GET /v1/pets/:id/outcome', change, { status: 404 }],
  ['DELETE /v1/pets/:id/outcome', change, { status: 404 }],
  ['PUT /v1/pets/:id/profile', describing, { body: {}, status: 200 }],
  ['PATCH /v1/pets/:id/profile', describing, { body: {}, status: 200 }],
  ['POST /v1/pets/:id/photos', describing, { headers: { 'content-type': 'image/jpeg' }, status: 409 }],
  ['PATCH /v1/pets/:id/photos/4711', describing, { body: { alt: 'Biscuit' }, status: 404 }],
  ['DELETE /v1/pets/:id/photos/4711', describing, { status: 404 }],
  ['PUT /v1/pets/:id/shelter', move, { body: { shelterId: 4711 }, status: 404 }],
];

/** The same on shelters. */
const onShelters: typeof onAnimals = [
  ['PATCH /v1/shelters/:id', change, { body: { phone: null }, status: 200 }],
  ['PUT /v1/shelters/:id/questions', change, { body: { questions: [] }, status: 200 }],
];

const isAllowed = ({ anywhere, ownShelter, ownClient }: Rule, { scopes, isBound }: Key, place: Place): boolean =>
  anywhere.some((scope) => scopes.includes(scope)) ||
  (isBound && place === 'this shelter' && ownShelter.some((scope) => scopes.includes(scope))) ||
  (!isBound && place === 'none, by its client' && ownClient.some((scope) => scopes.includes(scope)));

/** The orders are cancelled, so an action that is allowed is 409. */
const actions = ['approve', 'complete', 'return', 'cancel'] as const;

function expectedOnOrder(action: (typeof actions)[number] | 'read', key: Key, place: Place, owner: Owner): number {
  const needed: readonly Scope[] =
    action === 'read' ? ['orders:read'] : action === 'cancel' ? ['orders:write'] : ['store:manage', 'shelter:manage'];
  if (!needed.some((scope) => key.scopes.includes(scope))) return 403;
  const isManaged = isAllowed(change, key, place);
  if (!isManaged && owner === 'another client') return 404;
  if (action === 'read') return 200;
  return isManaged || action === 'cancel' ? 409 : 403;
}

/** The applications are withdrawn, so an action that is allowed is 409, unless it is a note. */
const applicationActions = ['review', 'accept', 'decline', 'reopen', 'withdraw'] as const;

function expectedOnApplication(
  action: (typeof applicationActions)[number] | 'read' | 'note',
  key: Key,
  place: Place,
  owner: Owner,
): number {
  const isStaffs = action !== 'read' && action !== 'withdraw';
  const staffScopes: readonly Scope[] = ['store:manage', 'shelter:manage'];
  const writeScopes: readonly Scope[] = ['applications:write', 'orders:write'];
  const needed = action === 'read' ? ['orders:read' as const] : isStaffs ? staffScopes : [...writeScopes, ...staffScopes];
  if (!needed.some((scope) => key.scopes.includes(scope))) return 403;
  const isManaged = isAllowed(change, key, place);
  if (!isManaged && owner === 'another client') return 404;
  if (action === 'read') return 200;
  const isAllowedHere = isManaged || (!isStaffs && writeScopes.some((scope) => key.scopes.includes(scope)));
  if (!isAllowedHere) return 403;
  return action === 'note' ? 200 : 409;
}

const pets = new Map<Place, number>();
const orders = new Map<string, number>();
const applications = new Map<string, number>();

const store = await openTestStore();
const [shelter, other] = [await addShelter(store), await addShelter(store)];
const shelters = { 'this shelter': shelter, 'another shelter': other };
const owners = {
  'its client': await store.createKey({ client: 'partner' }),
  'another client': await store.createKey(),
};
pets.set('none, by its client', (await addPet(store, owners['its client'])).id);
pets.set('none, by another client', (await addPet(store, owners['another client'])).id);
for (const place of shelterPlaces) {
  const adder = await createShelterKey(store, shelters[place]);
  const pet = await addPet(store, adder);
  pets.set(place, pet.id);
  for (const owner of ['its client', 'another client'] as const) {
    const { id } = await placeOrder(store, owners[owner], pet.id);
    await actAll(store, owners[owner], id, 'cancel');
    orders.set(`${place} ${owner}`, id);
    const application = await submit(store, owners[owner], pet.id);
    await decideAll(store, owners[owner], application.id, 'withdraw');
    applications.set(`${place} ${owner}`, application.id);
  }
}
const entries: Array<[Key, TestKey]> = [];
for (const key of keys) {
  const options = { client: 'partner', scopes: key.scopes, ...(key.isBound && { shelterId: BigInt(shelter) }) };
  entries.push([key, await store.createKey(options)]);
}
const made: ReadonlyMap<Key, TestKey> = new Map(entries);

const nameOf = ({ scopes, isBound }: Key) => `${isBound ? 'bound' : 'unbound'} with ${scopes.join(', ') || 'no scope'}`;

interface Cell {
  readonly key: Key;
  readonly operation: string;
  readonly place: Place;
  readonly expected: number;
  readonly call: Parameters<TestStore['call']>;
}

const keyText = (key: Key) => made.get(key)?.key ?? '';

const cellsOfAnimals = (key: Key): Cell[] =>
  places.flatMap((place) =>
    onAnimals.map(([operation, rule, { status, ...options }]) => {
      const [method = '', path = ''] = operation.replace(':id', String(pets.get(place))).split(' ');
      const expected = isAllowed(rule, key, place) ? status : 403;
      return { key, operation, place, expected, call: [method, path, { key: keyText(key), ...options }] };
    }),
  );

const cellsOfShelters = (key: Key): Cell[] =>
  shelterPlaces.flatMap((place) =>
    onShelters.map(([operation, rule, { status, ...options }]) => {
      const [method = '', path = ''] = operation.replace(':id', String(shelters[place])).split(' ');
      return {
        key,
        operation,
        place,
        expected: isAllowed(rule, key, place) ? status : 403,
        call: [method, path, { key: keyText(key), ...options }],
      };
    }),
  );

const cellsOfOrders = (key: Key): Cell[] =>
  shelterPlaces.flatMap((place) =>
    (['its client', 'another client'] as const).flatMap((owner) =>
      (['read', ...actions] as const).map((action) => {
        const path = `/v1/store/orders/${orders.get(`${place} ${owner}`)}`;
        const [method, target] = action === 'read' ? ['GET', path] : ['POST', `${path}/${action}`];
        const operation = `${action} an order of ${owner}`;
        return {
          key,
          operation,
          place,
          expected: expectedOnOrder(action, key, place, owner),
          call: [method, target, { key: keyText(key) }],
        };
      }),
    ),
  );

const cellsOfApplications = (key: Key): Cell[] =>
  shelterPlaces.flatMap((place) =>
    (['its client', 'another client'] as const).flatMap((owner) =>
      (['read', 'note', ...applicationActions] as const).map((action) => {
        const path = `/v1/applications/${applications.get(`${place} ${owner}`)}`;
        const isAct = action !== 'read' && action !== 'note';
        const body = action === 'note' ? { note: 'Has a garden.' } : action === 'decline' ? {} : undefined;
        const method = action === 'read' ? 'GET' : isAct ? 'POST' : 'PATCH';
        return {
          key,
          operation: `${action} an application of ${owner}`,
          place,
          expected: expectedOnApplication(action, key, place, owner),
          call: [method, isAct ? `${path}/${action}` : path, { key: keyText(key), ...(body && { body }) }],
        };
      }),
    ),
  );

async function findWrong(cells: readonly Cell[]): Promise<string[]> {
  const wrong: string[] = [];
  for (const { operation, place, expected, call } of cells) {
    const { status, json } = await store.call<{ code?: string; message?: string }>(...call);
    if (status !== expected || (status === 403) !== (json?.code === 'insufficient_scope'))
      wrong.push(`${operation} in ${place}: ${status} ${json?.message}, expected ${expected}`);
  }
  return wrong;
}

describe('A key', () => {
  test.each(keys.map((key) => [nameOf(key), key] as const))('%s may change, describe and move these animals only', async (_, key) => {
    expect(await findWrong(cellsOfAnimals(key))).toEqual([]);
  });

  test.each(keys.map((key) => [nameOf(key), key] as const))('%s may change these shelters and their questions only', async (_, key) => {
    expect(await findWrong(cellsOfShelters(key))).toEqual([]);
  });

  test.each(keys.map((key) => [nameOf(key), key] as const))('%s may see, cancel and decide on these orders only', async (_, key) => {
    expect(await findWrong(cellsOfOrders(key))).toEqual([]);
  });

  test.each(keys.map((key) => [nameOf(key), key] as const))(
    '%s may see, withdraw and decide on these applications only',
    async (_, key) => {
      expect(await findWrong(cellsOfApplications(key))).toEqual([]);
    },
  );
});

describe('The 403 for an animal of another shelter', () => {
  const scopesOfStaff = [...ofPartners, 'shelter:manage'];
  const key = keys.find(({ scopes }) => scopes.join() === scopesOfStaff.join()) as Key;
  const path = (place: Place) => `/v1/pets/${pets.get(place)}`;
  const order = () => `/v1/store/orders/${orders.get('another shelter its client')}`;

  const application = () => `/v1/applications/${applications.get('another shelter its client')}`;

  const inShelter = "one that is bound to the animal's shelter and has";
  const ofClient =
    'or one without a shelter that has pets:write, if its client added the animal and staff have not placed it in a shelter since';
  const ofStaff = `or ${inShelter} shelter:manage`;
  const ofEdit = `${inShelter} shelter:manage, ${ofClient}`;
  const ofDescribing = `${inShelter} pets:write or shelter:manage, ${ofClient}`;

  type Request = readonly [method: string, path: string, body: object | undefined];
  test.each<readonly [string, string, string, () => Request]>([
    ['a change', 'change or remove it', ofEdit, () => ['PATCH', path('another shelter'), { name: 'Rex' }]],
    ['a removal', 'change or remove it', ofEdit, () => ['DELETE', path('another shelter'), undefined]],
    ['a profile', 'write its profile or photos', ofDescribing, () => ['PUT', `${path('another shelter')}/profile`, {}]],
    ['a photo', 'write its profile or photos', ofDescribing, () => ['DELETE', `${path('another shelter')}/photos/1`, undefined]],
    ['an order', 'decide on its orders and applications', ofStaff, () => ['POST', `${order()}/approve`, undefined]],
    ['an application', 'decide on its orders and applications', ofStaff, () => ['POST', `${application()}/accept`, undefined]],
  ])('of %s has the same words and the same header', async (_, intention, others, call) => {
    const [method, target, body] = call();
    const response = await store.call<{ message: string }>(method, target, { key: keyText(key), ...(body && { body }) });
    expect(response.status).toBe(403);
    expect(response.json.message.replaceAll(/\d+/g, 'N')).toBe(
      `Animal N belongs to shelter N. To ${intention}, use a key with store:manage, ${others}. This key is bound to shelter N and has ${scopesOfStaff.join(', ')}.`,
    );
    expect(response.headers['www-authenticate']).toBe('Bearer error="insufficient_scope", scope="store:manage"');
  });
});
