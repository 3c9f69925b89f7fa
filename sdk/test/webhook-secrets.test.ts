// A receiver with a malformed secret must stop, not verify with what a lax decoder makes of it: an attacker can guess that key.
import { createHmac, randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { newSecret, signedHeaders } from '../../service/src/changes/webhooks/target-urls.ts';
import { verifyWebhook, WebhookError } from '../src/index.ts';

const body = '{"id":"evt_1","type":"pet.created"}';
const nowSeconds = () => Math.floor(Date.now() / 1_000);
const base64Of = (byteCount: number) => randomBytes(byteCount).toString('base64');
const good = newSecret();
/** Contains characters that differ between base64 and its URL-safe alphabet. */
const urlSafe = Buffer.alloc(24, 0xfb).toString('base64url');

const malformed: ReadonlyArray<readonly [string, unknown]> = [
  ['in double quotes', `"${good}"`],
  ['in single quotes', `'${good}'`],
  ['quoted after the prefix', `whsec_"${good.slice(6)}"`],
  ['a placeholder', '<secret>'],
  ['a placeholder after the prefix', 'whsec_…'],
  ['the name of a variable', '$WEBHOOK_SECRET'],
  ['an API key', 'hw_live_0123456789abcdefghijklmnopqrstuvwxyzAB'],
  ['empty', ''],
  ['the prefix alone', 'whsec_'],
  ['the prefix twice', `whsec_${good}`],
  ['the prefix in capitals', good.replace('whsec_', 'WHSEC_')],
  ['the prefix of a public key', good.replace('whsec_', 'whpk_')],
  ['truncated by one character', good.slice(0, -1)],
  ['without its padding', `whsec_${base64Of(25).replaceAll('=', '')}`],
  ['with excess padding', `${good}=`],
  ['with surplus bits after its last byte', `whsec_${Buffer.alloc(25).toString('base64').replace('A==', 'B==')}`],
  ['in the URL-safe alphabet', `whsec_${urlSafe}`],
  ['with a leading space', ` ${good}`],
  ['with a trailing space', `${good} `],
  ['with a trailing newline', `${good}\n`],
  ['with a carriage return', `${good}\r\n`],
  ['with a newline in it', `${good.slice(0, 20)}\n${good.slice(20)}`],
  ['with a byte order mark', `\ufeff${good}`],
  ['with a non-ASCII letter', good.replace(/.$/, 'é')],
  ['two secrets in one', `${good},${newSecret()}`],
  ['one byte', 'whsec_AA=='],
  ['23 bytes', `whsec_${base64Of(23)}`],
  ['65 bytes', `whsec_${base64Of(65)}`],
  ['undefined, as from process.env', undefined],
  ['null', null],
  ['a number', 42],
  ['a boolean', true],
  ['an object', { secret: good }],
  ['a list in the list', [good]],
  ['bytes', randomBytes(24)],
];

/** The keys that a lax decoder may make of the secret, and the empty or zero keys that it may fall back to. */
function degenerateKeys(secret: unknown): Buffer[] {
  const texts = [String(secret), String(secret).replace(/^whsec_/, '')];
  const lossy = texts.flatMap((text) => [Buffer.from(text, 'base64'), Buffer.from(text, 'utf8'), Buffer.from(text, 'hex')]);
  return [Buffer.alloc(0), Buffer.alloc(1), Buffer.alloc(24), Buffer.alloc(32), ...lossy];
}

function forge(key: Buffer): Record<string, string> {
  const timestamp = String(nowSeconds());
  const signature = createHmac('sha256', key).update(`evt_1.${timestamp}.${body}`).digest('base64');
  return { 'webhook-id': 'evt_1', 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
}

/** The secret alone and in lists. A secret that is a list itself is not passed alone: it would be read as several secrets. */
const listsWith = (secret: unknown): unknown[] => [
  ...(Array.isArray(secret) ? [] : [secret]),
  [secret],
  [good, secret],
  [secret, good],
  [good, secret, newSecret()],
];

const verify = (headers: Record<string, string>, secret: unknown) => verifyWebhook(body, headers, secret as string);

const isAccepted = (headers: Record<string, string>, secret: unknown): Promise<boolean> =>
  verify(headers, secret).then(
    () => true,
    () => false,
  );

const errorOf = (headers: Record<string, string>, secret: unknown): Promise<Error> =>
  verify(headers, secret).then(
    () => Promise.reject(new Error('it was accepted')),
    (error: Error) => error,
  );

describe('a malformed secret', () => {
  test.each(malformed)('that is %s accepts no forgery, alone or beside a good one', async (_, secret) => {
    const accepted = degenerateKeys(secret).map(async (key) => {
      const headers = forge(key);
      return Promise.all(listsWith(secret).map((given) => isAccepted(headers, given)));
    });
    expect((await Promise.all(accepted)).flat()).not.toContain(true);
  });

  test.each(malformed)('that is %s is a TypeError, whatever the request', async (_, secret) => {
    for (const headers of [{}, forge(Buffer.from(good.slice(6), 'base64')), ...degenerateKeys(secret).map(forge)]) {
      for (const given of listsWith(secret)) {
        const error = await errorOf(headers, given);
        expect(error).toBeInstanceOf(TypeError);
        expect(error).not.toBeInstanceOf(WebhookError);
        expect(error.message).toContain('not a webhook secret');
      }
    }
  });

  test('is identified by its position in the list, and never shown', async () => {
    const quoted = `"${good}"`;
    const { message } = await errorOf({}, [good, quoted]);
    expect(message).toBe(
      'Secret 2 of 2 is not a webhook secret: expected "whsec_" and the base64 of 24 to 64 bytes. Check that it is set, complete, and without quotes or spaces around it.',
    );
    const long = malformed.map(([, secret]) => secret).filter((secret) => typeof secret === 'string' && secret.length > 6);
    for (const secret of long) expect((await errorOf({}, secret)).message).not.toContain(String(secret).replace(/^whsec_/, ''));
  });

  test('is checked before the body and the headers', async () => {
    await expect(verifyWebhook(undefined as unknown as string, {}, '')).rejects.toThrow('not a webhook secret');
  });
});

test('an empty list of secrets is a TypeError', async () => {
  for (const key of degenerateKeys('')) {
    const error = await errorOf(forge(key), []);
    expect(error).toBeInstanceOf(TypeError);
    expect(error.message).toBe('No webhook secret was given. Pass at least one.');
  }
});

test.each([24, 25, 26, 32, 63, 64])('a secret of %i bytes verifies, with its prefix and without', async (byteCount) => {
  const secret = `whsec_${base64Of(byteCount)}`;
  const headers = signedHeaders('evt_1', nowSeconds(), body, [secret]);
  expect(await verifyWebhook(body, headers, secret)).toMatchObject({ id: 'evt_1' });
  expect(await verifyWebhook(body, headers, secret.slice(6))).toMatchObject({ id: 'evt_1' });
});

test('the Standard Webhooks library and the store sign alike, and verify the same', async () => {
  const library = new Webhook(good);
  const timestamp = nowSeconds();
  for (const text of [body, '{"name":"Zoë 🐕"}', '{}', `{"long":"${'x'.repeat(100_000)}"}`]) {
    const headers = signedHeaders('evt_1', timestamp, text, [good]);
    expect(headers['webhook-signature']).toBe(library.sign('evt_1', new Date(timestamp * 1_000), text));
    expect(await verifyWebhook(text, headers, good)).toEqual(library.verify(text, headers));
  }
});
