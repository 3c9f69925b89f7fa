import { describe, expect, test } from 'vitest';
import { addressSubject, networkOf, requestSubject, trustsProxies } from '../../../src/platform/caller-addresses.ts';

describe('addressSubject', () => {
  test('of an IPv4 address is that address', () => {
    expect(addressSubject('192.0.2.1')).toBe('a192.0.2.1');
  });

  test.each(['::ffff:192.0.2.1', '::FFFF:192.0.2.1', '::ffff:c000:201', '0:0:0:0:0:ffff:192.0.2.1'])(
    'of %s, an IPv4-mapped IPv6 address, is the IPv4 address',
    (address) => {
      expect(addressSubject(address)).toBe('a192.0.2.1');
    },
  );

  test.each([
    ['2001:db8:1:2:3:4:5:6'],
    ['2001:db8:1:2::'],
    ['2001:db8:1:2::1'],
    ['2001:0db8:0001:0002:ffff:ffff:ffff:ffff'],
    ['2001:DB8:1:2::A'],
  ])('of %s is its /64', (address) => {
    expect(addressSubject(address)).toBe('a2001:db8:1:2::/64');
  });

  test.each([
    ['::1', 'a0:0:0:0::/64'],
    ['::', 'a0:0:0:0::/64'],
    ['2001:db8::1', 'a2001:db8:0:0::/64'],
    ['2001::1:2:3:4:5', 'a2001:0:0:1::/64'],
    ['fe80::1%eth0', 'afe80:0:0:0::/64'],
    ['fe80::1%eth1', 'afe80:0:0:0::/64'],
  ])('of %s is %s', (address, subject) => {
    expect(addressSubject(address)).toBe(subject);
  });

  test('distinguishes two neighbouring networks', () => {
    expect(addressSubject('2001:db8:1:2::1')).not.toBe(addressSubject('2001:db8:1:3::1'));
  });

  test.each(['192.0.2.1:443', '192.0.2.1:65535', ' 192.0.2.1 ', '\t192.0.2.1:1', '[::ffff:192.0.2.1]:443', '::ffff:192.0.2.1%eth0'])(
    'of %j is the bare address',
    (text) => {
      expect(addressSubject(text)).toBe('a192.0.2.1');
    },
  );

  test.each([
    '[2001:db8:1:2::1]:443',
    '[2001:db8:1:2::1]',
    '[2001:db8:1:2::1%eth0]:443',
    '[2001:db8:1:2::1%25en1.5]:443',
    '2001:db8:1:2::1%eth0',
    // Without brackets the port is parsed as part of the address, after the /64.
    '2001:db8:1:2::1:443',
  ])('of %j is the /64 of the bare address', (text) => {
    expect(addressSubject(text)).toBe('a2001:db8:1:2::/64');
  });

  test.each([
    undefined,
    '',
    'unknown',
    '_hidden',
    '1',
    '1.2',
    '0x7f.1',
    '192.0.2.01',
    '192.0.2.1:',
    '192.0.2.1:123456',
    '192.0.2.1:http',
    '[192.0.2.1',
    '2001:db8:1:2:3:4:5:6:443',
    'x'.repeat(10_000),
    `2001:db8::1%${'x'.repeat(10_000)}`,
  ])('of %j, which is not an address, is the same for all', (text) => {
    expect(addressSubject(text)).toBe('a0.0.0.0');
  });
});

describe('requestSubject', () => {
  test('is that of the connection if no proxy is trusted', () => {
    expect(requestSubject({ ip: '192.0.2.1' })).toBe('a192.0.2.1');
  });

  test('is that of the last hop', () => {
    expect(requestSubject({ ip: '192.0.2.1:4711', ips: ['10.0.0.1', '192.0.2.1:4711'] })).toBe('a192.0.2.1');
  });

  test.each(['unknown', '_hidden', '1', '', 'x'.repeat(10_000)])('is that of the proxy that wrote %j instead of an address', (hop) => {
    expect(requestSubject({ ip: hop, ips: ['10.0.0.1', '10.0.0.2:4711', hop] })).toBe('a10.0.0.2');
  });
});

describe('networkOf', () => {
  test.each([
    ['192.0.2.1', '192.0.2.254', true],
    ['192.0.2.1', '192.0.3.1', false],
    ['2001:db8:1:2::1', '2001:db8:1:ffff::1', true],
    ['2001:db8:1:2::1', '2001:db8:2:2::1', false],
  ])('of %s and %s is the same: %s', (one, other, isSame) => {
    expect(networkOf(addressSubject(one)) === networkOf(addressSubject(other))).toBe(isSame);
  });
});

describe('trustsProxies', () => {
  const isTrusted = trustsProxies([
    '10.0.0.0/8',
    '192.0.2.1',
    '2001:db8::/32',
    '::ffff:198.51.100.0/120',
    '::ffff:203.0.113.0/90',
    'fe80::1%eth0',
  ]);

  test.each([
    '10.1.2.3',
    '10.1.2.3:4711',
    '::ffff:10.1.2.3',
    '[::ffff:10.1.2.3]:4711',
    '192.0.2.1',
    '2001:db8:ffff::1',
    '[2001:db8::1]:443',
    '198.51.100.7',
    'fe80::1%eth1',
  ])('%s', (hop) => {
    expect(isTrusted(hop)).toBe(true);
  });

  test.each(['11.0.0.1', '192.0.2.2', '2001:db9::1', '198.51.101.7', '203.0.113.1', 'unknown', '10', '10.0.0.1.example', ''])(
    'not %j',
    (hop) => {
      expect(isTrusted(hop)).toBe(false);
    },
  );

  test('throws on what is not an address or a range', () => {
    expect(() => trustsProxies(['proxy'])).toThrow('"proxy" is not an address or a CIDR range');
  });
});
