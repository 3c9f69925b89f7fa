import { describe, expect, test } from 'vitest';
import { newSecret, signedHeaders } from '../../service/src/webhooks/signatures.ts';
import { verifyWebhook, WebhookError } from '../src/index.ts';

const body =
  '{"id":"evt_1","type":"pet.created","createdAt":"2026-11-15T10:00:00.000Z","data":{"pet":{"id":1,"name":"Zoë","categoryId":9007199254740993,"status":"available"}}}';
const nowSeconds = () => Math.floor(Date.now() / 1_000);

describe('verifyWebhook', () => {
  test('returns the event of what a store has signed, from Headers, plain headers, text or bytes', async () => {
    const secret = newSecret();
    const headers = signedHeaders('evt_1', nowSeconds(), body, [secret]);
    const event = await verifyWebhook(body, headers, secret);
    expect(event).toMatchObject({ id: 'evt_1', type: 'pet.created', data: { pet: { categoryId: 9_007_199_254_740_993n } } });
    expect(await verifyWebhook(new TextEncoder().encode(body), new Headers(headers), secret)).toEqual(event);
  });

  test('knows one of several secrets on either side', async () => {
    const [old, present] = [newSecret(), newSecret()];
    const both = signedHeaders('evt_1', nowSeconds(), body, [old, present]);
    expect(await verifyWebhook(body, both, present)).toMatchObject({ id: 'evt_1' });
    const one = signedHeaders('evt_1', nowSeconds(), body, [present]);
    expect(await verifyWebhook(body, one, [old, present])).toMatchObject({ id: 'evt_1' });
  });

  test.each([
    ['another secret', (headers: Record<string, string>) => ({ headers, body, secret: newSecret() })],
    ['another body', (headers: Record<string, string>) => ({ headers, body: `${body} ` })],
    ['another id', (headers: Record<string, string>) => ({ headers: { ...headers, 'webhook-id': 'evt_2' }, body })],
    ['no signature', (headers: Record<string, string>) => ({ headers: { ...headers, 'webhook-signature': undefined }, body })],
    ['a signature that is none', (headers: Record<string, string>) => ({ headers: { ...headers, 'webhook-signature': 'v1,%' }, body })],
    [
      'another version of signature',
      (headers: Record<string, string>) => ({
        headers: { ...headers, 'webhook-signature': headers['webhook-signature']?.replace('v1', 'v2') },
        body,
      }),
    ],
    ['a time that is none', (headers: Record<string, string>) => ({ headers: { ...headers, 'webhook-timestamp': 'now' }, body })],
  ])('refuses %s', async (_, change) => {
    const secret = newSecret();
    const changed = { secret, ...change(signedHeaders('evt_1', nowSeconds(), body, [secret])) };
    await expect(verifyWebhook(changed.body, changed.headers, changed.secret)).rejects.toThrow(WebhookError);
  });

  test.each([-301, 301])('refuses what is %i s from now, signed as it is', async (offsetSeconds) => {
    const secret = newSecret();
    const headers = signedHeaders('evt_1', nowSeconds() + offsetSeconds, body, [secret]);
    await expect(verifyWebhook(body, headers, secret)).rejects.toThrow('of another time');
  });
});
