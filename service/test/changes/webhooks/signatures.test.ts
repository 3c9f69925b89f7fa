import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { isSecret, newSecret, signedHeaders } from '../../../src/changes/webhooks/target-urls.ts';

const good = newSecret();

test.each([
  '',
  'whsec_',
  'whsec_AAAA',
  good.replace('whsec_', ''),
  good.replace('whsec_', 'WHSEC_'),
  `"${good}"`,
  `${good}\n`,
  ` ${good}`,
  good.slice(0, -1),
  `${good}=`,
  `whsec_${Buffer.alloc(24, 0xfb).toString('base64url')}`,
  `whsec_${randomBytes(23).toString('base64')}`,
  `whsec_${randomBytes(65).toString('base64')}`,
  `whsec_${'%'.repeat(32)}`,
])('the secret %j signs nothing, alone or beside a valid one', (secret) => {
  expect(isSecret(secret)).toBe(false);
  for (const secrets of [[secret], [good, secret], [secret, good]]) {
    expect(() => signedHeaders('evt_1', 1, '{}', secrets)).toThrow(new TypeError('the secret is malformed'));
  }
});

test.each([24, 25, 26, 64])('a secret of %i bytes signs', (byteCount) => {
  const secret = `whsec_${randomBytes(byteCount).toString('base64')}`;
  expect(isSecret(secret)).toBe(true);
  expect(signedHeaders('evt_1', 1, '{}', [secret])['webhook-signature']).toMatch(/^v1,[\w+/]{43}=$/);
});
