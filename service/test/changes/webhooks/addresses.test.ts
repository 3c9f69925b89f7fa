import { describe, expect, test } from 'vitest';
import { faultOfUrl, isPublicAddress } from '../../../src/changes/webhooks/target-urls.ts';

describe('isPublicAddress', () => {
  test.each(['1.1.1.1', '93.184.216.34', '2606:2800:220:1:248:1893:25c8:1946', '2a00:1450:4001:829::200e'])('%s is public', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  test.each([
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '127.255.255.254',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.1',
    '192.0.2.1',
    '192.168.1.1',
    '198.18.0.1',
    '198.51.100.1',
    '203.0.113.1',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::7f00:1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '64:ff9b::7f00:1',
    '64:ff9b:1::1',
    '100::1',
    '2001::1',
    '2001:db8::1',
    '2002:7f00:1::',
    'fc00::1',
    'fd12:3456::1',
    'fe80::1',
    'fe80::1%eth0',
    'fec0::1',
    'ff02::1',
    'example.org',
    '',
  ])('%s is not public', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });
});

describe('faultOfUrl', () => {
  test('accepts https to a host or a public address, on 443 or a port from 1024 up', () => {
    for (const url of ['https://example.org', 'https://example.org:8443/a?b=c', 'https://1.1.1.1/', 'https://[2606:4700::1111]/'])
      expect(faultOfUrl(url, false)).toBeUndefined();
  });

  test('accepts this machine only if that is allowed, also without TLS', () => {
    for (const url of ['http://127.0.0.1:8080/', 'http://localhost:80/', 'http://[::1]:9000/', 'https://127.0.0.1:22/']) {
      expect(faultOfUrl(url, true)).toBeUndefined();
      expect(faultOfUrl(url, false)).toBeDefined();
    }
    expect(faultOfUrl('http://example.org/', true)).toBe('must use https');
    expect(faultOfUrl('https://10.0.0.1/', true)).toBe('has an address that is not public');
  });
});
