import { beforeEach, expect, test } from 'vitest';
import { addShelter, createShelterKey, type ShelterBody } from '../../shelter-steps.ts';
import { openTestStore, type TestKey } from '../../test-store.ts';

const store = await openTestStore();
let id = 0;
let key: TestKey;
beforeEach(async () => {
  id = await addShelter(store);
  key = await createShelterKey(store, id);
});

const patch = <Body = ShelterBody>(openingHours: unknown, headers: Record<string, string> = {}) =>
  store.call<Body>('PATCH', `/v1/shelters/${id}`, { key: key.key, body: { openingHours }, headers });
const hours = { weekly: { saturday: [{ from: '10:00', to: '24:00' }] }, exceptions: [{ date: '2026-12-26', hours: [] }] };

test('opening hours are stored, read as they were sent, in the order of their dates, and removed by null', async () => {
  const days = [{ date: '2027-01-06', hours: [{ from: '09:00', to: '12:00' }] }, ...hours.exceptions];
  const set = await patch({ ...hours, exceptions: days });
  expect(set.status).toBe(200);
  expect(set.json.openingHours).toEqual({ ...hours, exceptions: days.toReversed() });
  const read = await store.call<ShelterBody>('GET', `/v1/shelters/${id}`, { key: key.key });
  expect(read.json.openingHours).toEqual(set.json.openingHours);
  expect(read.headers['etag']).toBe(set.headers['etag']);
  const [row] = await store.read<{ after: object }>(`select after from audit where act = 'shelter.changed' and target_id = $1`, id);
  expect(row?.after).toEqual({ openingHours: expect.stringContaining('saturday') });
  expect((await patch(null)).json.openingHours).toBeNull();
});

test('the same hours in another order change nothing', async () => {
  const first = await patch(hours);
  const again = await patch({ exceptions: hours.exceptions, weekly: hours.weekly }, { 'if-match': String(first.headers['etag']) });
  expect([again.status, again.headers['etag']]).toEqual([200, first.headers['etag']]);
  expect(await store.read(`select from audit where act = 'shelter.changed' and target_id = $1`, id)).toHaveLength(1);
});

const opening = (from: string, to: string) => ({ from, to });
test.each([
  [
    { weekly: { monday: [opening('22:00', '02:00')] }, exceptions: [] },
    'openingHours.weekly.monday[0].to must be later than from; got 22:00 to 02:00. A day ends at 24:00',
  ],
  [{ weekly: { monday: [opening('10:00', '12:00'), opening('11:00', '13:00')] }, exceptions: [] }, 'must not be before 12:00'],
  [{ weekly: {}, exceptions: [{ date: '2026-02-30', hours: [] }] }, 'must be a day of the calendar'],
  [
    {
      weekly: {},
      exceptions: [
        { date: '2026-02-03', hours: [] },
        { date: '2026-02-03', hours: [] },
      ],
    },
    'must be unique',
  ],
  [{ weekly: { mondays: [] }, exceptions: [] }, 'mondays'],
  [{ weekly: { monday: [opening('9:00', '12:00')] }, exceptions: [] }, '9:00'],
  [{ weekly: { monday: [opening('24:00', '24:00')] }, exceptions: [] }, '24:00'],
  [{ weekly: {} }, 'openingHours must be an object with weekly, which has times such as'],
  [{ weekly: { monday: Array.from({ length: 5 }, (_, i) => opening(`0${i}:00`, `0${i}:30`)) }, exceptions: [] }, 'monday'],
  [{ weekly: {}, exceptions: Array.from({ length: 61 }, (_, i) => ({ date: `2026-01-${i}`, hours: [] })) }, 'exceptions'],
])('hours that cannot be are 400 and say why: %j', async (given, why) => {
  const { status, json } = await patch<{ code: string; message: string }>(given);
  expect([status, json.code, json.message]).toEqual([400, 'invalid_body', expect.stringContaining(why)]);
});
