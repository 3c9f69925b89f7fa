import { expect, test } from 'vitest';
import { testAuthor } from '../../../../testkit/test-author.ts';
import { eraseApplicant } from '../../../src/adoption/applications/applicants.ts';
import { verifyHistory } from '../../../src/adoption/verify/verify.ts';
import { addPet, createManager } from '../../adoption-steps.ts';
import { findInDump } from '../../applicant-steps.ts';
import { decide, readApplication, submit } from '../../application-steps.ts';
import { errorResponse } from '../../error-response.ts';
import { addShelter, createShelterKey, moveToShelter } from '../../shelter-steps.ts';
import { openTestStore } from '../../test-store.ts';

const store = await openTestStore();
const [partner, ada, ben] = [await store.createKey(), await createManager(store), await createManager(store)];
const applied = async () => (await submit(store, partner, (await addPet(store, ada)).id)).id;
const note = (id: number, text: string | null, { key } = ada) =>
  store.call<{ note: string | null }>('PATCH', `/v1/applications/${id}`, { key, body: { note: text } });
const noteOf = async (id: number) => (await readApplication(store, ada, id)).note;
const textsOf = (id: number) =>
  store
    .read<{ text: string | null }>('select text from application_notes where application_id = $1 order by id', id)
    .then((rows) => rows.map(({ text }) => text));

test('PATCH adds a note, which is the newest then, and the earlier ones stay with author and time', async () => {
  const id = await applied();
  expect((await note(id, 'Has a garden.')).json.note).toBe('Has a garden.');
  expect((await note(id, 'Has a dog, too.', ben)).json.note).toBe('Has a dog, too.');
  const rows = await store.read(
    'select text, client_id, at is not null as timed from application_notes where application_id = $1 order by id',
    id,
  );
  expect(rows).toEqual([
    { text: 'Has a garden.', client_id: BigInt(ada.clientId), timed: true },
    { text: 'Has a dog, too.', client_id: BigInt(ben.clientId), timed: true },
  ]);
  // A repeat is no second note.
  await note(id, 'Has a dog, too.', ben);
  expect(await textsOf(id)).toHaveLength(2);
});

test("null removes the newest of one's own, and never that of somebody else", async () => {
  const id = await applied();
  for (const [text, by] of [
    ['A1', ada],
    ['B1', ben],
    ['A2', ada],
  ] as const)
    await note(id, text, by);
  expect((await note(id, null, ben)).json.note).toBe('A2');
  expect((await note(id, null, ben)).json.note).toBe('A2');
  expect((await note(id, null, ada)).json.note).toBe('A1');
  expect((await note(id, null, ada)).json.note).toBeNull();
  expect(await textsOf(id)).toEqual([null, null, null]);
});

test('a note from before 1.1.0 becomes the first, and what 1.0.0 writes beside is added', async () => {
  const [id, removed] = [await applied(), await applied()];
  await store.asOwner('alter table applications disable trigger application_noted');
  await store.write(`update applications set note = 'Earlier.' where id = any($1)`, [id, removed]);
  await store.asOwner('alter table applications enable trigger application_noted');
  await note(id, 'Later.');
  expect(await textsOf(id)).toEqual(['Earlier.', 'Later.']);
  await store.write(`update applications set note = 'By 1.0.0.' where id = $1`, id);
  expect(await textsOf(id)).toEqual(['Earlier.', 'Later.', 'By 1.0.0.']);
  expect((await note(removed, null)).json.note).toBeNull();
  expect(await noteOf(id)).toBe('By 1.0.0.');
});

test('the newest fifty are kept', async () => {
  const id = await applied();
  for (let n = 1; n <= 53; n += 1) await note(id, `Note ${n}`);
  const texts = await textsOf(id);
  expect([texts.length, texts[0], texts.at(-1)]).toEqual([50, 'Note 4', 'Note 53']);
  expect((await note(id, 'x'.repeat(2_001))).status).toBe(400);
});

test('all texts stay behind when the animal moves, and go with the adopter; that there were notes stays', async () => {
  const [moved, erased] = [await submit(store, partner, (await addPet(store, ada)).id), await applied()];
  for (const text of ['Movingtext one', 'Movingtext two']) await note(moved.id, text);
  const other = await addShelter(store);
  await moveToShelter(store, moved.petId, other);
  expect(await readApplication(store, await createShelterKey(store, other), moved.id)).toMatchObject({ note: null });
  for (const text of ['Erasedtext one', 'Erasedtext two']) await note(erased, text, ben);
  await decide(store, ada, erased, 'decline');
  const { db, catalogue } = store.dependencies;
  await eraseApplicant({ db, catalogue }, () => true, BigInt(erased), testAuthor);
  for (const id of [moved.id, erased]) expect(await textsOf(id)).toEqual([null, null]);
  for (const text of ['Movingtext', 'Erasedtext']) expect(await findInDump(store, text)).toEqual([]);
  expect(await note(erased, 'Once more.')).toMatchObject(errorResponse(409, 'application_state_conflict', 'was erased'));
  expect(await verifyHistory(store.dependencies.db, () => {})).toMatchObject({ violation: undefined });
});
