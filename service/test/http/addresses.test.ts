import { describe, expect, test } from 'vitest';
import { addressSubject } from '../../src/http/addresses.ts';

describe('addressSubject', () => {
  test('of an IPv4 address is that address', () => {
    expect(addressSubject('192.0.2.1')).toBe('a192.0.2.1');
  });

  test.each(['::ffff:192.0.2.1', '::FFFF:192.0.2.1'])('of %s, an IPv4 address in IPv6, is the IPv4 address', (address) => {
    expect(addressSubject(address)).toBe('a192.0.2.1');
  });

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

  test('tells two neighbouring networks apart', () => {
    expect(addressSubject('2001:db8:1:2::1')).not.toBe(addressSubject('2001:db8:1:3::1'));
  });
});
