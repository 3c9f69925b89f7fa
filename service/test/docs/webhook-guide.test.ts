// The receivers in the guides are run unchanged, and get what a worker sends.

import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { afterAll, describe, expect, test } from 'vitest';
import { accepts, freePort } from '../../../testkit/servers.ts';
import { newSecret } from '../../src/changes/webhooks/target-urls.ts';
import { errorCodes } from '../../src/platform/errors.ts';
import { poll } from '../poll.ts';
import { openTestStore } from '../test-store.ts';
import { addAnimal, addEndpoint, deliver, deliveriesOf, deliveryOf, publishAll } from '../webhook-work.ts';
import { type Block, fencedBlocks } from './fenced-blocks.ts';
import { GuideRun, python } from './guide-run.ts';

const read = (guide: string) => readFileSync(new URL(`../../../docs/guides/${guide}`, import.meta.url), 'utf8');
const guide = read('webhooks.md');
const receiversOf = (text: string) =>
  fencedBlocks(text)
    .filter((block) => /createServer\(|HTTPServer\(/.test(block.text))
    .filter(({ language }) => python || language !== 'py');

/** Each endpoint has its own secret, which the receiver reads from the environment. */
const runs: GuideRun[] = [];
afterAll(() => {
  for (const run of runs) run[Symbol.dispose]();
});
const store = await openTestStore({ env: { HOMEWARD_WEBHOOKS_TO_LOOPBACK: 'on' } });

/** Starts a receiver of a guide as a process. Resolves once it listens or has exited. */
async function startReceiver(receiver: Block, secret: string, port: number): Promise<ReturnType<GuideRun['start']>> {
  const run = new GuideRun({ HOMEWARD_URL: store.url, HOMEWARD_KEY: '', WEBHOOK_SECRET: secret, PORT: String(port) });
  runs.push(run);
  const started = run.start(receiver);
  await poll(async () => started.child.exitCode !== null || (await accepts(port))).until((isStarted) => isStarted);
  return started;
}

const body = '{"id":"evt_1","type":"pet.created"}';
const nowSeconds = () => Math.floor(Date.now() / 1_000);

function signed(key: Buffer, timestamp = String(nowSeconds()), text = body): Record<string, string> {
  const signature = createHmac('sha256', key).update(`evt_1.${timestamp}.${text}`).digest('base64');
  return { 'webhook-id': 'evt_1', 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
}

const post = async (port: number, headers: Record<string, string>, text: string | Uint8Array<ArrayBuffer> = body): Promise<number> =>
  (await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body: text })).status;

const validSecret = newSecret();
const malformed = [`"${validSecret}"`, `${validSecret}\n`, validSecret.slice(0, -1), 'whsec_…', '<secret>', 'whsec_AAAA', 'whsec_', ''];

/** With the SDK and without it. The receiver in the guide to the SDK does not detect duplicates. */
const receivers = [
  ...receiversOf(guide).map((receiver, i) => ({ name: `webhooks.md, receiver ${i + 1}`, receiver, line: '1 pet.created', lineCount: 1 })),
  ...receiversOf(read('sdk.md')).map((receiver) => ({ name: 'sdk.md', receiver, line: 'pet.created', lineCount: 2 })),
];

describe('docs/guides/webhooks.md', () => {
  test('has a receiver with the SDK, one without, and one in Python', () => {
    const kinds = receivers.map(({ receiver: { text, language } }) => (text.includes('@homeward/sdk') ? 'sdk' : language));
    expect(kinds).toEqual(['sdk', 'js', ...(python ? ['py'] : []), 'sdk']);
  });

  test.each(receivers)(
    '$name accepts each signed event, and rejects another secret',
    { timeout: 60_000 },
    async ({ receiver, line, lineCount }) => {
      const partner = await store.createKey();
      const [port, otherPort] = [await freePort(), await freePort()];
      const { id, secret } = await addEndpoint(store, partner, { url: `http://127.0.0.1:${port}/` });
      const other = await addEndpoint(store, partner, { url: `http://127.0.0.1:${otherPort}/` });
      const { output } = await startReceiver(receiver, secret, port);
      const { output: otherOutput } = await startReceiver(receiver, newSecret(), otherPort);
      await using _ = deliver(store.dependencies);
      await addAnimal(store, partner);
      await publishAll(store.dependencies);
      const [delivery] = await poll(() => deliveriesOf(store, partner, id)).until((all) => all[0]?.status === 'delivered');
      await store.call('POST', `/v1/webhooks/${id}/replay`, { key: partner.key, body: { deliveryId: delivery?.id } });
      await poll(() => deliveryOf(store, partner, id, delivery?.id ?? 0)).until(
        ({ json }) => json.attempts.length === 2 && json.status === 'delivered',
      );
      expect(output()).toBe(`${line} ${delivery?.eventId}\n`.repeat(lineCount));
      const [rejected] = await poll(() => deliveriesOf(store, partner, other.id)).until((all) => all[0]?.attemptCount === 1);
      expect((await deliveryOf(store, partner, other.id, rejected?.id ?? 0)).json.attempts).toMatchObject([{ status: 401 }]);
      expect(otherOutput()).toBe('');
    },
  );

  test.each(receivers)('$name accepts no forgery if its secret is malformed', async ({ receiver }) => {
    for (const secret of malformed) {
      const port = await freePort();
      const { child, output, errors } = await startReceiver(receiver, secret, port);
      const guesses = [secret, secret.replace(/^whsec_/, '')].flatMap((text) => [Buffer.from(text, 'base64'), Buffer.from(text)]);
      const forgeries = [Buffer.alloc(0), Buffer.alloc(1), ...guesses].map((key) => signed(key));
      const outcomes =
        child.exitCode === null
          ? await Promise.all(forgeries.map(async (headers) => String(await post(port, headers))))
          : [`ended with status ${child.exitCode}`];
      expect(new Set(outcomes)).toEqual(new Set([receiver.text.includes('@homeward/sdk') ? '500' : 'ended with status 1']));
      await poll(() => errors()).until((text) => /webhook secret|WEBHOOK_SECRET/.test(text));
      expect(output()).toBe('');
      expect(malformed.filter((one) => one.length > 10 && errors().includes(one))).toEqual([]);
    }
  });

  test.each(receivers)(
    '$name returns 401 for an invalid signature or an old timestamp, and keeps running',
    { timeout: 60_000 },
    async ({ receiver }) => {
      const port = await freePort();
      const { output } = await startReceiver(receiver, validSecret, port);
      const key = Buffer.from(validSecret.slice(6), 'base64');
      const seconds = nowSeconds();
      for (const time of [
        seconds - 400,
        seconds + 400,
        `${seconds}.0`,
        `+${seconds}`,
        `0x${seconds.toString(16)}`,
        `${seconds / 1e9}e9`,
        'now',
      ]) {
        expect(await post(port, signed(key, String(time)))).toBe(401);
      }
      const headers = signed(key);
      for (const signature of ['', 'v1', 'v1,', 'v1,%', 'v1,AAAA', headers['webhook-signature']?.replace('v1,', 'v2,'), 'v1,\u00e9']) {
        expect(await post(port, { ...headers, 'webhook-signature': signature ?? '' })).toBe(401);
      }
      expect(await post(port, {})).toBe(401);
      expect(await post(port, headers, `${body} `)).toBe(401);
      expect(await post(port, signed(key, String(seconds), '\ufffd'), new Uint8Array([0xff]))).toBe(401);
      const socket = connect(port, '127.0.0.1');
      await once(socket, 'connect');
      socket.write('POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\n{');
      socket.resetAndDestroy();
      await once(socket, 'close');
      expect(output()).toBe('');
      expect(await post(port, signed(key))).toBe(204);
    },
  );

  test('has the right status for each error code', () => {
    const rows = [...guide.matchAll(/^\| (\d{3}) \| `(\w+)` \|/gm)].map(([, status, code]) => [code, Number(status)]);
    expect(rows).toEqual(rows.map(([code]) => [code, errorCodes[code as keyof typeof errorCodes].status]));
    expect(rows.length).toBeGreaterThan(0);
  });
});
