import { describe, expect, test } from 'vitest';
import { environmentOfKey, hashApiKey, keyHint, mintApiKey } from '../../../src/access/clients/api-key.ts';
import { withoutKeys } from '../../../src/domain/token-formats.ts';

// A key from an earlier release: keys that partners have must stay valid in every later one.
const known = 'hw_live_0123456789ABCDEFGHIJKLMNOPQRSTUV0Vj9MQ';

describe('mintApiKey', () => {
  test.each([
    ['production', 'hw_live_'],
    ['staging', 'hw_test_'],
  ] as const)('for %s starts with %s and has 46 characters', (environment, prefix) => {
    expect(mintApiKey(environment)).toMatch(new RegExp(`^${prefix}[0-9A-Za-z]{38}$`));
  });

  test('never generates the same key twice', () => {
    expect(new Set(Array.from({ length: 1_000 }, () => mintApiKey('production'))).size).toBe(1_000);
  });
});

describe('environmentOfKey', () => {
  test.each(['production', 'staging'] as const)('of a key of %s is that', (environment) => {
    expect(environmentOfKey(mintApiKey(environment))).toBe(environment);
  });

  test('of a key from an earlier release is still recognised', () => {
    expect(environmentOfKey(known)).toBe('production');
  });

  test('of a key with any one character changed is unknown', () => {
    const key = mintApiKey('production');
    const changed = Array.from(key, (character, i) => key.slice(0, i) + (character === 'z' ? 'y' : 'z') + key.slice(i + 1));
    expect(changed.filter((one) => environmentOfKey(one) !== undefined)).toEqual([]);
  });

  test('of a key with two adjacent characters swapped is unknown', () => {
    const key = mintApiKey('production');
    const swapped = Array.from(key.slice(1), (character, i) => key.slice(0, i) + character + key[i] + key.slice(i + 2));
    expect(swapped.filter((one) => one !== key && environmentOfKey(one) !== undefined)).toEqual([]);
  });

  test.each(['', 'hw_live_', `${known}x`, known.slice(0, -1), ` ${known}`, `${known}\n`, known.replace('live', 'test')])(
    'of %j is unknown',
    (text) => {
      expect(environmentOfKey(text)).toBeUndefined();
    },
  );
});

describe('hashApiKey', () => {
  test('is SHA-256 in hexadecimal', () => {
    expect(hashApiKey('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });
});

describe('keyHint', () => {
  test('shows the prefix, three characters and the last four', () => {
    expect(keyHint(known)).toBe(`hw_live_012…${known.slice(-4)}`);
  });
});

describe('withoutKeys', () => {
  test('redacts keys, whole or truncated, and nothing else', () => {
    expect(withoutKeys(`GET /v1/pets?key=${known}&b=hw_test_abc&c=hw_other`)).toBe('GET /v1/pets?key=hw_live_…&b=hw_test_…&c=hw_other');
  });
});
