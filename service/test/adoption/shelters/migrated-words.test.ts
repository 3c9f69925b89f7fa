// What the upgrade confirms of shelters that are there before it: what store staff wrote, as far as that is known.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createManager } from '../../adoption-steps.ts';
import { addShelter, createShelterKey } from '../../shelter-steps.ts';
import { openTestStore, type TestKey } from '../../test-store.ts';

const store = await openTestStore();
const manager = await createManager(store);
const sql = readFileSync(new URL('../../../migrations/0085_confirmed_shelters.sql', import.meta.url), 'utf8');
/** Its last statement, as the upgrade runs it. */
const confirming = sql.slice(sql.lastIndexOf('insert into confirmed_shelters'));

const patch = async ({ key }: TestKey, id: number, body: object) =>
  expect((await store.call('PATCH', `/v1/shelters/${id}`, { key, body })).status).toBe(200);
async function upgrade() {
  await store.asOwner('delete from confirmed_shelters');
  await store.asOwner(confirming);
}
const confirmed = (id: number) => store.read('select name, phone, website, town from confirmed_shelters where shelter_id = $1', id);

test('of a shelter that never had a key to change itself all is confirmed', async () => {
  const id = await addShelter(store, 'Danube');
  await store.write(`update shelters set phone = '1' where id = $1`, id);
  await upgrade();
  expect(await confirmed(id)).toEqual([{ name: 'Danube', phone: '1', website: null, town: null }]);
});

test('of another, what the audit says that store staff have written last', async () => {
  const { json } = await store.call<{ id: number }>('POST', '/v1/shelters', {
    key: manager.key,
    body: { name: 'Alps', phone: '1', town: 'Gaming' },
  });
  const shelter = await createShelterKey(store, json.id);
  await patch(shelter, json.id, { phone: '+43 900', website: 'https://evil.example/' });
  await patch(manager, json.id, { website: 'https://alps.example/' });
  await upgrade();
  expect(await confirmed(json.id)).toEqual([{ name: 'Alps', phone: null, website: 'https://alps.example/', town: 'Gaming' }]);
});

test('of one whose history is not known, nothing', async () => {
  const id = await addShelter(store, 'Call +43 900');
  await createShelterKey(store, id);
  await upgrade();
  expect(await confirmed(id)).toEqual([]);
});
