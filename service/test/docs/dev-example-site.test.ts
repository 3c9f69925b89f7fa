// The example site that `npm run dev` starts beside the store.
import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { describeExampleSite, openExampleSite } from '../../../tools/dev-example-site.ts';
import { addPet } from '../adoption-steps.ts';
import { createTestStore } from '../test-store.ts';

test('lists animals on the next port if 3000 is taken, and stops with the store', async () => {
  await using store = await createTestStore();
  const key = await store.createKey();
  await addPet(store, key, { name: 'Biscuit' });
  await using _ = await takePort(3_000);
  const resources = new AsyncDisposableStack();
  const site = await openExampleSite({ url: store.url, key: key.key }, resources);
  const url = describeExampleSite(site);
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:30[0-9][0-9]$/);
  expect(url).not.toContain(':3000');
  expect(await (await fetch(url)).text()).toContain('Biscuit');
  await resources.disposeAsync();
  await expect(fetch(url)).rejects.toThrow('fetch failed');
});

test('that cannot start is a reason to read, not an error', async () => {
  await using resources = new AsyncDisposableStack();
  await using _ = await takePort(3_000);
  const site = await openExampleSite({ url: 'http://127.0.0.1:9', key: 'hw_live_x' }, resources, { first: 3_000, last: 3_000 });
  expect(describeExampleSite(site)).toContain('not running: the ports 3000 to 3000 are all taken');
});

/** Does nothing if another program has the port already. */
async function takePort(port: number): Promise<AsyncDisposable> {
  const server = createServer().listen(port, '127.0.0.1');
  await Promise.race([once(server, 'listening'), once(server, 'error')]).catch(() => {});
  return { [Symbol.asyncDispose]: async () => void server.close() };
}
