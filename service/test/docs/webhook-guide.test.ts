// The receivers in the guides are run as they stand there, and get what a worker sends.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { accepts, freePort } from '../../../tools/servers.ts';
import { errorCodes } from '../../src/errors.ts';
import { createTestStore, type TestStore } from '../test-store.ts';
import { addAnimal, addEndpoint, deliver, deliveriesOf, deliveryOf, publishAll, until } from '../webhook-work.ts';
import { type Block, fencedBlocks } from './fenced-blocks.ts';
import { GuideRun } from './guide-run.ts';

const read = (guide: string) => readFileSync(new URL(`../../../docs/guides/${guide}`, import.meta.url), 'utf8');
const guide = read('webhooks.md');
const receiversOf = (text: string) => fencedBlocks(text).filter((block) => block.language === 'js' && block.text.includes('createServer('));

/** The secret of each endpoint differs, and a receiver reads its own from the environment. */
const runs: GuideRun[] = [];
let store: TestStore;
beforeAll(async () => {
  store = await createTestStore({ env: { HOMEWARD_WEBHOOKS_TO_LOOPBACK: 'on' } });
});
afterAll(async () => {
  for (const run of runs) run[Symbol.dispose]();
  await store[Symbol.asyncDispose]();
});

/** What a guide shows, as a process. */
async function startReceiver(receiver: Block, secret: string, port: number): Promise<() => string> {
  const run = new GuideRun({ HOMEWARD_URL: store.url, HOMEWARD_KEY: '', WEBHOOK_SECRET: secret, PORT: String(port) });
  runs.push(run);
  const { output } = run.start(receiver);
  await until(
    () => accepts(port),
    (isOpen) => isOpen,
  );
  return output;
}

/** With the SDK and without it; the one of the guide to the SDK does not count what it has seen. */
const receivers = [
  ...receiversOf(guide).map((receiver, i) => ({ name: `webhooks.md, receiver ${i + 1}`, receiver, line: '1 pet.created', repeats: 1 })),
  ...receiversOf(read('sdk.md')).map((receiver) => ({ name: 'sdk.md', receiver, line: 'pet.created', repeats: 2 })),
];

describe('docs/guides/webhooks.md', () => {
  test('has a receiver with the SDK and one without', () => {
    expect(receivers.map(({ receiver }) => receiver.text.includes('@homeward/sdk'))).toEqual([true, false, true]);
  });

  test.each(receivers)(
    '$name takes each signed event, and refuses another secret',
    { timeout: 60_000 },
    async ({ receiver, line, repeats }) => {
      const partner = await store.createKey();
      const [port, otherPort] = [await freePort(), await freePort()];
      const { id, secret } = await addEndpoint(store, partner, { url: `http://127.0.0.1:${port}/` });
      const other = await addEndpoint(store, partner, { url: `http://127.0.0.1:${otherPort}/` });
      const output = await startReceiver(receiver, secret, port);
      const otherOutput = await startReceiver(receiver, 'whsec_AAAA', otherPort);
      await using _ = deliver(store.dependencies);
      await addAnimal(store, partner);
      await publishAll(store.dependencies);
      const [delivery] = await until(
        () => deliveriesOf(store, partner, id),
        (all) => all[0]?.status === 'delivered',
      );
      await store.call('POST', `/v1/webhooks/${id}/replay`, { key: partner.key, body: { deliveryId: delivery?.id } });
      await until(
        () => deliveryOf(store, partner, id, delivery?.id ?? 0),
        ({ json }) => json.attempts.length === 2 && json.status === 'delivered',
      );
      expect(output()).toBe(`${line} ${delivery?.eventId}\n`.repeat(repeats));
      const [refused] = await until(
        () => deliveriesOf(store, partner, other.id),
        (all) => all[0]?.attemptCount === 1,
      );
      expect((await deliveryOf(store, partner, other.id, refused?.id ?? 0)).json.attempts).toMatchObject([{ status: 401 }]);
      expect(otherOutput()).toBe('');
    },
  );

  test('gives each code of a refusal the status that it has', () => {
    const rows = [...guide.matchAll(/^\| (\d{3}) \| `(\w+)` \|/gm)].map(([, status, code]) => [code, Number(status)]);
    expect(rows).toEqual(rows.map(([code]) => [code, errorCodes[code as keyof typeof errorCodes].status]));
    expect(rows.length).toBeGreaterThan(0);
  });
});
