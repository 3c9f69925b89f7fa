import { expect, test } from 'vitest';
import { createManager } from '../adoption-steps.ts';
import { openTestStore } from '../test-store.ts';

const store = await openTestStore();
const manager = await createManager(store);
const partner = await store.createKey();
type Settings = Record<'accentLight' | 'accentDark' | 'imprint' | 'privacy', string | null>;
const read = () => store.call<Settings>('GET', '/v1/site', { key: partner.key });
const patch = <Body = Settings>(body: object, headers: Record<string, string> = {}, key = manager.key) =>
  store.call<Body>('PATCH', '/v1/site', { key, body, headers });

test('colours and texts of the site are null at first, changed by staff of the store, and read by every key', async () => {
  expect((await read()).json).toEqual({ accentLight: null, accentDark: null, imprint: null, privacy: null });
  const changed = await patch({ accentLight: '#a83f1f', imprint: 'Riverside Animals\n\n<b>1020 Vienna</b>' });
  expect(changed).toMatchObject({ status: 200, json: { accentLight: '#a83f1f', accentDark: null, privacy: null } });
  const now = await read();
  expect(now).toMatchObject({ text: changed.text, headers: { etag: changed.headers['etag'] } });
  expect((await patch({ imprint: null })).json).toMatchObject({ accentLight: '#a83f1f', imprint: null });
  const acts = await store.read<{ after: object }>(`select after from audit where act = 'site.changed' order by id`);
  expect(acts.map(({ after }) => after)).toEqual([
    { accentLight: '#a83f1f', imprint: 'Riverside Animals\n\n<b>1020 Vienna</b>' },
    { imprint: null },
  ]);
});

test.each([
  [{ accentLight: '#f4a27e' }, 'Choose a darker one.'],
  [{ accentDark: '#000000' }, 'Choose a lighter one.'],
  [{ accentLight: 'red' }, 'accentLight must be a colour such as #a83f1f'],
  [{ accentLight: '#fff;}body{' }, 'accentLight must be a colour'],
  [{ privacy: 'a\u0007' }, 'privacy must be a string of at most 20,000'],
  [{ colour: '#a83f1f' }, 'colour'],
])('%j is 400, and says why', async (body, why) => {
  const { status, json } = await patch<{ code: string; message: string }>(body);
  expect([status, json.code, json.message]).toEqual([400, 'invalid_body', expect.stringContaining(why)]);
});

test('a partner changes nothing, and of two at once the second is 412', async () => {
  expect((await patch({ imprint: 'Mine' }, {}, partner.key)).status).toBe(403);
  const etag = String((await read()).headers['etag']);
  expect((await patch({ privacy: 'First' }, { 'if-match': etag })).status).toBe(200);
  expect((await patch({ privacy: 'Second' }, { 'if-match': etag })).status).toBe(412);
});
