// Every PATCH is a merge patch, and takes its media type.
import { expect, test } from 'vitest';
import { addPet, createManager } from '../adoption-steps.ts';
import { disposeAfterAll } from '../dispose-after-all.ts';
import { createTestStore } from '../test-store.ts';

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

const store = disposeAfterAll(await createTestStore());
const manager = await createManager(store);
const pet = await addPet(store, manager);
const { paths } = (await store.call<Document>('GET', '/openapi.json')).json;
const patched = Object.keys(paths).filter((path) => 'patch' in (paths[path] ?? {}));
const patch = (path: string, raw: string) =>
  store.call<{ code: string }>('PATCH', `/v1${path.replaceAll(/\{\w+\}/g, '1')}`, {
    key: manager.key,
    raw,
    headers: { 'content-type': 'application/merge-patch+json' },
  });

test.each(patched)('PATCH %s takes a merge patch: one that is no object is 400, or the thing is not there', async (path) => {
  expect((await patch(path, '[]')).json.code).toMatch(/^invalid_body$|_not_found$/);
});

test('PATCH of an animal as a merge patch changes what is given, and null for what it must have is 400', async () => {
  expect(await patch(`/pets/${pet.id}`, '{"name":"Rosie"}')).toMatchObject({ status: 200, json: { ...pet, name: 'Rosie' } });
  expect(await patch(`/pets/${pet.id}`, '{"name":null}')).toMatchObject({ status: 400, json: { code: 'invalid_body' } });
});
