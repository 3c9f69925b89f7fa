// The receiver in the guide to webhooks is run as it stands there, and gets what a worker sends.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { accepts, freePort } from '../../../tools/servers.ts';
import { errorCodes } from '../../src/errors.ts';
import { createTestStore, type TestStore } from '../test-store.ts';
import { addAnimal, addEndpoint, deliver, deliveriesOf, deliveryOf, publishAll, until } from '../webhook-work.ts';
import { fencedBlocks } from './fenced-blocks.ts';

const guide = readFileSync(new URL('../../../docs/guides/webhooks.md', import.meta.url), 'utf8');

let store: TestStore;
const folder = mkdtempSync(path.join(tmpdir(), 'homeward-receiver-'));
const children: ChildProcess[] = [];
beforeAll(async () => {
  store = await createTestStore({ env: { HOMEWARD_WEBHOOKS_TO_LOOPBACK: 'on' } });
});
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
  await store[Symbol.asyncDispose]();
});

/** What the guide shows, as a process. */
async function startReceiver(secret: string, port: number): Promise<() => string> {
  const [receiver] = fencedBlocks(guide).filter(({ language }) => language === 'js');
  const file = path.join(folder, 'receiver.mjs');
  writeFileSync(file, receiver?.text ?? '');
  const child = spawn(process.execPath, [file], {
    env: { WEBHOOK_SECRET: secret, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text) => (output += text));
  await until(
    () => accepts(port),
    (isOpen) => isOpen,
  );
  return () => output;
}

describe('docs/guides/webhooks.md', () => {
  test('has a receiver that takes each signed event once, and refuses another secret', async () => {
    const partner = await store.createKey();
    const [port, otherPort] = [await freePort(), await freePort()];
    const { id, secret } = await addEndpoint(store, partner, { url: `http://127.0.0.1:${port}/` });
    const other = await addEndpoint(store, partner, { url: `http://127.0.0.1:${otherPort}/` });
    const output = await startReceiver(secret, port);
    const otherOutput = await startReceiver('whsec_AAAA', otherPort);
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
    expect(output()).toBe(`1 pet.created ${delivery?.eventId}\n`);
    const [refused] = await until(
      () => deliveriesOf(store, partner, other.id),
      (all) => all[0]?.attemptCount === 1,
    );
    expect((await deliveryOf(store, partner, other.id, refused?.id ?? 0)).json.attempts).toMatchObject([{ status: 401 }]);
    expect(otherOutput()).toBe('');
  });

  test('gives each code of a refusal the status that it has', () => {
    const rows = [...guide.matchAll(/^\| (\d{3}) \| `(\w+)` \|/gm)].map(([, status, code]) => [code, Number(status)]);
    expect(rows).toEqual(rows.map(([code]) => [code, errorCodes[code as keyof typeof errorCodes].status]));
    expect(rows.length).toBeGreaterThan(0);
  });
});
