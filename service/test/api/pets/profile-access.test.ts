// Who may write the profile of an animal: by scope, by the shelter that the key is bound to, and by the animal's shelter.
import { describe, expect, test } from 'vitest';
import type { Scope } from '../../../src/domain/scopes.ts';
import { addPet, createManager } from '../../adoption-steps.ts';
import { errorResponse } from '../../error-response.ts';
import { nothingKnown, readProfile, writeProfile } from '../../profile-steps.ts';
import { addShelter, createShelterKey, moveToShelter } from '../../shelter-steps.ts';
import { openTestStore } from '../../test-store.ts';

const store = await openTestStore();
const manager = await createManager(store);
const [own, other] = [await addShelter(store, 'Own'), await addShelter(store, 'Other')];
const pet = await addPet(store, manager);
await moveToShelter(store, pet.id, own);

const keyOf = (bound: 'own' | 'other' | 'none', scopes: readonly Scope[]) =>
  bound === 'none' ? store.createKey({ scopes }) : createShelterKey(store, bound === 'own' ? own : other, scopes);

const cases: ReadonlyArray<{ bound: 'own' | 'other' | 'none'; scopes: readonly Scope[]; allowed: boolean }> = [
  { bound: 'none', scopes: ['store:manage'], allowed: true },
  { bound: 'other', scopes: ['store:manage'], allowed: true },
  { bound: 'own', scopes: ['shelter:manage'], allowed: true },
  { bound: 'other', scopes: ['shelter:manage'], allowed: false },
  { bound: 'own', scopes: ['pets:write'], allowed: true },
  { bound: 'other', scopes: ['pets:write'], allowed: false },
  {
    bound: 'other',
    scopes: ['pets:read', 'pets:write', 'orders:read', 'orders:write', 'applications:write', 'webhooks:manage', 'shelter:manage'],
    allowed: false,
  },
  { bound: 'none', scopes: ['pets:write'], allowed: false },
  {
    bound: 'none',
    scopes: ['pets:read', 'pets:write', 'orders:read', 'orders:write', 'applications:write', 'webhooks:manage'],
    allowed: false,
  },
  { bound: 'own', scopes: ['pets:read', 'orders:read', 'orders:write', 'applications:write', 'webhooks:manage'], allowed: false },
  { bound: 'own', scopes: [], allowed: false },
];

describe('A key', () => {
  test.each(cases)('bound to $bound with $scopes writes: $allowed', async ({ bound, scopes, allowed }) => {
    const key = await keyOf(bound, scopes);
    for (const method of ['PUT', 'PATCH'] as const) {
      await writeProfile(store, manager, 'PUT', pet.id, {});
      const { status } = await writeProfile(store, key, method, pet.id, { sex: 'male' });
      expect(status).toBe(allowed ? 200 : 403);
      const { json } = await readProfile(store, manager, pet.id);
      expect(json).toEqual({ ...nothingKnown, sex: allowed ? 'male' : 'unknown' });
    }
  });

  test.each(['own', 'other', 'none'] as const)('bound to %s reads with pets:read, and not without', async (bound) => {
    expect((await readProfile(store, await keyOf(bound, ['pets:read']), pet.id)).status).toBe(200);
    expect((await readProfile(store, await keyOf(bound, ['pets:write']), pet.id)).status).toBe(403);
  });
});

describe('The error says which key may', () => {
  test('for a key of another shelter', async () => {
    const key = await keyOf('other', ['pets:write']);
    const response = await writeProfile(store, key, 'PATCH', pet.id, {});
    expect(response).toMatchObject(
      errorResponse(
        403,
        'insufficient_scope',
        `Animal ${pet.id} belongs to shelter ${own}. To write its profile or photos, use a key with store:manage, one that is bound to the animal's shelter and has pets:write or shelter:manage, or one without a shelter that has pets:write, if its client added the animal and staff have not placed it in a shelter since. This key is bound to shelter ${other} and has pets:write.`,
      ),
    );
    expect(response.headers['www-authenticate']).toBe('Bearer error="insufficient_scope", scope="store:manage"');
  });

  test('for a key that is not bound', async () => {
    const response = await writeProfile(store, await keyOf('none', ['pets:write']), 'PUT', pet.id, {});
    expect(response).toMatchObject(errorResponse(403, 'insufficient_scope', 'This key is bound to no shelter and has pets:write.'));
  });

  test('for a key without any of the scopes, before its body is read', async () => {
    const key = await keyOf('own', ['pets:read']);
    expect(await writeProfile(store, key, 'PUT', pet.id, { sex: 7 })).toMatchObject(
      errorResponse(403, 'insufficient_scope', 'needs the scope pets:write or store:manage or shelter:manage; this key has pets:read.'),
    );
  });
});

test('a key of another shelter learns neither the ETag nor an externalId', async () => {
  await writeProfile(store, manager, 'PUT', pet.id, { externalId: 'A-1' });
  const key = await keyOf('other', ['pets:write']);
  const { status } = await writeProfile(store, key, 'PUT', pet.id, { externalId: 'A-1' }, { 'if-match': '"old"' });
  expect(status).toBe(403);
});

test('an animal that is moved takes the right to write with it', async () => {
  const moved = await addPet(store, manager);
  await moveToShelter(store, moved.id, own);
  const [former, next] = [await keyOf('own', ['pets:write']), await keyOf('other', ['pets:write'])];
  expect((await writeProfile(store, former, 'PATCH', moved.id, { sex: 'male' })).status).toBe(200);
  await moveToShelter(store, moved.id, other);
  expect((await writeProfile(store, former, 'PATCH', moved.id, { sex: 'female' })).status).toBe(403);
  expect((await writeProfile(store, next, 'PATCH', moved.id, { sex: 'female' })).status).toBe(200);
});
