import { expect, test } from 'vitest';
import { normalizeEmail } from '../../src/platform/email-addresses.ts';

test.each(['Ada@Example.org', 'ada+dogs@example.org', 'ada@ｅxample.org', 'ada@𝐞xample。org', 'ａda＋dogs@example.org'])(
  '%s is the mailbox ada@example.org',
  (email) => {
    expect(normalizeEmail(email)).toBe('ada@example.org');
  },
);

test.each([
  ['ada@bücher.example', 'ada@xn--bcher-kva.example'],
  ['ada@XN--BCHER-KVA.example', 'ada@xn--bcher-kva.example'],
  ['+dogs@example.org', '+dogs@example.org'],
  ['ada@xn--a.example', 'ada@xn--a.example'],
])('the key of %s is %s', (email, key) => {
  expect(normalizeEmail(email)).toBe(key);
});
