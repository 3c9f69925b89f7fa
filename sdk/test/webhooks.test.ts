import { createHmac } from 'node:crypto';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { newSecret, signedHeaders } from '../../service/src/changes/webhooks/target-urls.ts';
import { verifyWebhook, WebhookError } from '../src/index.ts';

type Signed = Record<string, string>;

const body =
  '{"id":"evt_1","type":"pet.created","createdAt":"2026-11-15T10:00:00.000Z","data":{"pet":{"id":1,"name":"Zoë","categoryId":9007199254740993,"status":"available"}}}';
const secret = newSecret();
const nowSeconds = () => Math.floor(Date.now() / 1_000);
const signed = (): Signed => signedHeaders('evt_1', nowSeconds(), body, [secret]);

/** Signs as the store does, also bytes and timestamps that it would never send. */
function signedAs(timestamp: string, bytes: Uint8Array | string = body, id = 'evt_1'): Signed {
  const hmac = createHmac('sha256', Buffer.from(secret.slice(6), 'base64'))
    .update(`${id}.${timestamp}.`)
    .update(bytes);
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${hmac.digest('base64')}` };
}

const wrongHeaders: ReadonlyArray<readonly [string, Record<string, unknown>]> = [
  ['another id', { 'webhook-id': 'evt_2' }],
  ['an empty id', { 'webhook-id': '' }],
  ['no id', { 'webhook-id': undefined }],
  ['an id given twice', { 'webhook-id': ['evt_1', 'evt_1'] }],
  ['an empty list of ids', { 'webhook-id': [] }],
  ['no timestamp', { 'webhook-timestamp': undefined }],
  ['a timestamp given twice', { 'webhook-timestamp': [String(nowSeconds()), String(nowSeconds())] }],
  ['no signature', { 'webhook-signature': undefined }],
  ['an empty signature', { 'webhook-signature': '' }],
  ['spaces as a signature', { 'webhook-signature': '   ' }],
  ['a signature that is a number', { 'webhook-signature': 1 }],
  ['signatures given twice', { 'webhook-signature': ['v1,AAAA', 'v1,AAAA'] }],
  ...['v1', 'v1,', ',', 'v1,%', 'v1,é', 'v1,AAAA', 'v1,"', 'v1,\u0000', `v1,${'A'.repeat(43)}=`, 'v1,A v1,B v1,C', 'x'.repeat(16_000)].map(
    (value) => [`the signature ${value.slice(0, 60)}`, { 'webhook-signature': value }] as const,
  ),
];

describe('verifyWebhook', () => {
  test('returns the event of a signed request, from Headers or plain headers, text or bytes', async () => {
    const headers = signed();
    const event = await verifyWebhook(body, headers, secret);
    expect(event).toMatchObject({ id: 'evt_1', type: 'pet.created', data: { pet: { categoryId: 9_007_199_254_740_993n } } });
    const bytes = new TextEncoder().encode(body);
    expect(await verifyWebhook(bytes, new Headers(headers), secret)).toEqual(event);
    expect(await verifyWebhook(Buffer.concat([Buffer.from('before'), bytes]).subarray(6), headers, secret)).toEqual(event);
    expect(await verifyWebhook(bytes.buffer, headers, secret)).toEqual(event);
    const lists = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]]));
    expect(await verifyWebhook(body, lists, secret)).toEqual(event);
  });

  test('accepts one matching secret among several, on either side', async () => {
    const old = newSecret();
    const both = signedHeaders('evt_1', nowSeconds(), body, [old, secret]);
    expect(await verifyWebhook(body, both, secret)).toMatchObject({ id: 'evt_1' });
    expect(await verifyWebhook(body, signed(), [old, secret])).toMatchObject({ id: 'evt_1' });
  });

  test.each(wrongHeaders)('rejects %s', async (_, changes) => {
    await expect(verifyWebhook(body, { ...signed(), ...changes } as Signed, secret)).rejects.toThrow(WebhookError);
  });

  test.each([
    ['another version', (signature: string) => signature.replace('v1,', 'v2,')],
    ['the version of public keys', (signature: string) => signature.replace('v1,', 'v1a,')],
    ['no version', (signature: string) => signature.replace('v1,', '')],
    ['a version in capitals', (signature: string) => signature.replace('v1,', 'V1,')],
    ['no padding', (signature: string) => signature.replace('=', '')],
    ['a suffix', (signature: string) => `${signature},v1`],
    ['a comma in front', (signature: string) => `,${signature}`],
    ['its first character changed', (signature: string) => signature.replace(/^v1,./, (text) => (text === 'v1,A' ? 'v1,B' : 'v1,A'))],
    ['its last character changed', (signature: string) => signature.replace(/.=$/, (text) => (text === 'A=' ? 'B=' : 'A='))],
  ])('rejects a valid signature with %s', async (_, change) => {
    const headers = signed();
    const changed = { ...headers, 'webhook-signature': change(headers['webhook-signature'] ?? '') };
    await expect(verifyWebhook(body, changed, secret)).rejects.toThrow(WebhookError);
  });

  test('finds the valid signature among others of any version', async () => {
    const headers = signed();
    for (const others of ['v1a,AAAA v1,AAAA ', 'v1, v1,% ', '  ', ', ']) {
      const several = { ...headers, 'webhook-signature': others + headers['webhook-signature'] };
      expect(await verifyWebhook(body, several, secret)).toMatchObject({ id: 'evt_1' });
    }
  });

  test('rejects a wrong secret and a modified body', async () => {
    await expect(verifyWebhook(body, signed(), newSecret())).rejects.toThrow('No signature matches');
    await expect(verifyWebhook(`${body} `, signed(), secret)).rejects.toThrow('No signature matches');
    await expect(verifyWebhook('', signed(), secret)).rejects.toThrow('No signature matches');
  });

  const seconds = nowSeconds();
  test.each([
    'now',
    `${seconds}.0`,
    `${seconds}.`,
    `-${seconds}`,
    `+${seconds}`,
    ` ${seconds}`,
    `${seconds} `,
    `${seconds}\n`,
    `${seconds}, ${seconds}`,
    `${seconds / 1e9}e9`,
    `0x${seconds.toString(16)}`,
    `0b${seconds.toString(2)}`,
    `${seconds}n`,
    `${seconds}000`,
    '9'.repeat(400),
    '0',
    'NaN',
    'Infinity',
    new Date().toISOString(),
    '١٧٣١٦٦٤٠٠٠',
  ])('rejects the timestamp %j, even if it is signed', async (timestamp) => {
    await expect(verifyWebhook(body, signedAs(timestamp), secret)).rejects.toThrow(WebhookError);
    await expect(verifyWebhook(body, signedAs(timestamp), secret)).rejects.toThrow('webhook-timestamp');
  });

  test.each([-302, 302])('rejects a timestamp %i s from now, even if it is signed', async (offsetSeconds) => {
    const error = verifyWebhook(body, signedAs(String(nowSeconds() + offsetSeconds)), secret);
    await expect(error).rejects.toThrow(WebhookError);
    await expect(error).rejects.toThrow('webhook-timestamp is outside the 5-minute tolerance; check your clock.');
  });

  test.each([-298, 298])('accepts a timestamp %i s from now', async (offsetSeconds) => {
    expect(await verifyWebhook(body, signedAs(String(nowSeconds() + offsetSeconds)), secret)).toMatchObject({ id: 'evt_1' });
  });

  test('verifies the raw bytes, not the decoded text', async () => {
    const [invalid, other] = [0xff, 0xfe].map((byte) => Buffer.concat([Buffer.from('{"name":"'), Buffer.from([byte]), Buffer.from('"}')]));
    if (!invalid || !other) throw new Error('no bytes');
    const time = String(nowSeconds());
    await expect(verifyWebhook(other, signedAs(time, invalid), secret)).rejects.toThrow('No signature matches');
    await expect(verifyWebhook(invalid, signedAs(time, '{"name":"\ufffd"}'), secret)).rejects.toThrow('No signature matches');
    await expect(verifyWebhook(invalid, signedAs(time, invalid), secret)).rejects.toThrow('not JSON');
  });

  test.each(['', ' ', 'hello', '{"id":', "{'id':1}", '\ufeff{}', `{"\\u0000":"x","n":${'9'.repeat(20)}}`])(
    'rejects the body %j, even if it is signed',
    async (text) => {
      const headers = signedAs(String(nowSeconds()), text);
      for (const given of [text, new TextEncoder().encode(text)]) {
        await expect(verifyWebhook(given, headers, secret)).rejects.toThrow(WebhookError);
      }
    },
  );

  test.each([undefined, null, 1, { id: 'evt_1' }, [123]])('throws a TypeError for the body %j', async (parsed) => {
    const error = verifyWebhook(parsed as unknown as string, signed(), secret);
    await expect(error).rejects.toThrow(TypeError);
    await expect(error).rejects.toThrow('before any parsing');
  });
});

describe('the test vector of the Standard Webhooks libraries', () => {
  const id = 'msg_p5jXN8AQM9LWM0D4loKWxJek';
  const timestamp = 1_614_265_330;
  const text = '{"test": 2432232314}';
  const shared = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const signature = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=';
  const headers = { 'webhook-id': id, 'webhook-timestamp': String(timestamp), 'webhook-signature': signature };
  beforeEach(() => {
    vi.useFakeTimers({ now: timestamp * 1_000, toFake: ['Date'] });
    return () => vi.useRealTimers();
  });

  test('matches what the store signs', () => {
    expect(signedHeaders(id, timestamp, text, [shared])).toEqual(headers);
  });

  test('is verified at its time, with and without the prefix of the secret', async () => {
    for (const one of [shared, shared.replace('whsec_', '')]) {
      expect(await verifyWebhook(text, headers, one)).toEqual({ test: 2_432_232_314 });
      expect(await verifyWebhook(new TextEncoder().encode(text), new Headers(headers), one)).toEqual({ test: 2_432_232_314 });
    }
  });

  test.each(['v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OA=', 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLawdd'])(
    'is rejected with the signature %s',
    async (wrong) => {
      await expect(verifyWebhook(text, { ...headers, 'webhook-signature': wrong }, shared)).rejects.toThrow(WebhookError);
    },
  );
});
