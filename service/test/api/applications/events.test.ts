import { describe, expect, test } from 'vitest';
import { act, addPet, createManager } from '../../adoption-steps.ts';
import { decide, decideAll, submit, submitUnconfirmed } from '../../application-steps.ts';
import { readOn } from '../../event-steps.ts';
import { addShelter, createShelterKey, moveToShelter } from '../../shelter-steps.ts';
import { openTestStore, type TestKey } from '../../test-store.ts';

interface ApplicationEvent {
  readonly type: string;
  readonly data: { readonly application?: { readonly id: number; readonly status: string } };
}

const store = await openTestStore();
const manager = await createManager(store);
const [shelterId, otherShelter] = [await addShelter(store), await addShelter(store)];
const [staff, otherStaff] = [await createShelterKey(store, shelterId), await createShelterKey(store, otherShelter)];
const partner = await store.createKey();

const petAtShelter = async () => {
  const { id } = await addPet(store, manager);
  await moveToShelter(store, id, shelterId);
  return id;
};

/** The events of these applications that a reader gets, with the text of all its pages. */
async function eventsFor(key: TestKey, ids: readonly number[]): Promise<{ types: string[]; text: string }> {
  const { events, texts } = await readOn(store, key);
  const seen = (events as unknown as ApplicationEvent[]).filter(({ data }) => ids.includes(data.application?.id ?? 0));
  return { types: seen.map(({ type }) => type), text: texts.join('') };
}

describe('The events of an application', () => {
  test('are named after its statuses, with what happened to it and nothing of the adopter', async () => {
    const petId = await petAtShelter();
    const { id } = await submit(store, partner, petId, { adopter: { name: 'Ada Lovelace', email: 'ada@example.org', phone: '555' } });
    const other = await submit(store, partner, petId, { adopter: { name: 'Bob', email: 'bob@example.org' } });
    await store.call('PATCH', `/v1/applications/${id}`, { key: staff.key, body: { note: 'Has a garden.' } });
    await decideAll(store, staff, id, 'review');
    await decide(store, staff, id, 'decline', { body: { message: 'Needs a garden.' } });
    await decideAll(store, staff, id, 'reopen');
    const { json } = await decide(store, staff, id, 'accept');
    await act(store, staff, json.orderId ?? 0, 'complete');
    const { types, text } = await eventsFor(partner, [id, other.id]);
    const ofStatus = ['submitted', 'submitted', 'reviewing', 'declined', 'reviewing', 'accepted', 'completed', 'closed'];
    expect(types).toEqual(ofStatus.map((status) => `application.${status}`));
    expect(text).not.toMatch(/Ada|example\.org|555|garden/);
    const { events } = await readOn(store, partner, '/v1/events?limit=100&type=application.completed');
    expect(events.at(-1)?.data).toEqual({
      application: {
        ...{ id, petId, shelterId, status: 'completed', closedReason: null, orderId: json.orderId },
        ...{ createdAt: json.createdAt, updatedAt: expect.any(String) },
      },
    });
  });

  test('are for its client and staff alone', async () => {
    const { id } = await submit(store, partner, await petAtShelter());
    await decideAll(store, partner, id, 'withdraw');
    const types = ['application.submitted', 'application.withdrawn'];
    for (const key of [partner, staff, manager]) expect((await eventsFor(key, [id])).types).toEqual(types);
    const blind = await store.createKey({ scopes: ['pets:read'] });
    for (const key of [otherStaff, await store.createKey(), blind]) expect((await eventsFor(key, [id])).types).toEqual([]);
  });

  test('come after a move to the new shelter', async () => {
    const petId = await petAtShelter();
    const { id } = await submit(store, partner, petId);
    const moved = await store.call('PUT', `/v1/pets/${petId}/shelter`, { key: manager.key, body: { shelterId: otherShelter } });
    expect(moved.status).toBe(200);
    await decideAll(store, otherStaff, id, 'decline');
    expect((await eventsFor(staff, [id])).types).toEqual(['application.submitted']);
    expect((await eventsFor(otherStaff, [id])).types).toEqual(['application.declined']);
  });

  test('there are none while it is unconfirmed, also for its client', async () => {
    const { id } = await submitUnconfirmed(store, partner, await petAtShelter());
    for (const key of [partner, staff, manager]) expect((await eventsFor(key, [Number(id)])).types).toEqual([]);
  });
});
