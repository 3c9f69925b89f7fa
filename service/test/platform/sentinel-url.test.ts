import { describe, expect, test } from 'vitest';
import { ConfigError, loadConfig } from '../../src/platform/config.ts';
import { describeRedis, parseSentinelUrl } from '../../src/platform/server-urls.ts';

const open = { username: '', password: '', tls: false };

describe('A URL of Sentinels', () => {
  test.each([
    ['redis+sentinel://a/homeward', { ...open, name: 'homeward', sentinels: [{ host: 'a', port: 26_379 }] }],
    [
      'redis+sentinel://a:5000,b.example.org,[::1]:7/my.master-1_x',
      {
        ...open,
        name: 'my.master-1_x',
        sentinels: [
          { host: 'a', port: 5_000 },
          { host: 'b.example.org', port: 26_379 },
          { host: '::1', port: 7 },
        ],
      },
    ],
    [
      'rediss+sentinel://api:p%40%2F%3A%25,w:x@a/n',
      { username: 'api', password: 'p@/:%,w:x', tls: true, name: 'n', sentinels: [{ host: 'a', port: 26_379 }] },
    ],
    ['redis+sentinel://:secret@a/n', { ...open, password: 'secret', name: 'n', sentinels: [{ host: 'a', port: 26_379 }] }],
  ])('%s', (url, parsed) => {
    expect(parseSentinelUrl(url)).toEqual(parsed);
    expect(loadConfig({ REDIS_URL: url }).redisUrl).toBe(url);
  });

  test('is described with each Sentinel, and without the password', () => {
    expect(describeRedis('redis+sentinel://me:secret@a,b:7,[::1]/homeward')).toBe(
      'Redis "homeward" of the Sentinels at a:26379, b:7 and [::1]:26379',
    );
    expect(describeRedis('rediss+sentinel://a/n')).toBe('Redis "n" of the Sentinel at a:26379');
  });
});

describe('A malformed URL of Sentinels is rejected with what is wrong, the value without the password, and the form', () => {
  const port = 'has a port of a that is not a number from 1 to 65535.';
  const host = 'has a host that is none; an IPv6 address needs brackets, as in [::1]:26379.';
  const comma = 'has no host of a Sentinel, or a comma too many.';
  const name = 'has a name of the primary with other characters than letters, digits, ".", "-" and "_".';
  const noName = 'lacks the name that the Sentinels call the primary, such as "mymaster" in "sentinel monitor mymaster".';
  const encoding = 'has a "/", "?", "#" or "@" in the user or the password: write them as %2F, %3F, %23 and %40.';
  const percent = 'has a "%" in the user or the password that encodes nothing: write it as %25.';
  const parameters = 'has parameters, and can have none.';
  test.each([
    ['', '', comma],
    ['/n', '/n', comma],
    [':secret@/n', '…@/n', comma],
    ['a,,b/n', 'a:26379,,b:26379/n', comma],
    ['a,/n', 'a:26379,/n', comma],
    ['a', 'a:26379', noName],
    ['me:secret@a:1,b:2/', '…@a:1,b:2/', noName],
    ['a/n/0', 'a:26379/n/0', name],
    ['a/na me', 'a:26379/na me', name],
    ['a/n%20', 'a:26379/n%20', name],
    ['a:0/n', 'a:…/…', port],
    ['a:/n', 'a:…/…', port],
    ['a:65536/n', 'a:…/…', port],
    ['a:-1/n', 'a:…/…', port],
    ['a:1e3/n', 'a:…/…', port],
    ['a:secret/n', 'a:…/…', port],
    ['a:secret,b:26379/n', 'a:…,b:26379/…', port],
    ['a b/n', '…:26379/…', host],
    ['::1/n', '…:26379/…', host],
    ['fe80::1:26379/n', '…:26379/…', host],
    ['[::1/n', '…:26379/…', host],
    ['a;b/n', '…:26379/…', host],
    ['me:sec/ret@a/n', '…@a:26379/n', encoding],
    ['me:sec@ret@a/n', '…@a:26379/n', encoding],
    ['me:sec#ret@a/n', '…@a:26379/n', encoding],
    ['me:sec?ret@a/n', '…@a:26379/n', encoding],
    ['me:secret%@a/n', '…@a:26379/n', percent],
    ['me:secret%zz@a/n', '…@a:26379/n', percent],
    ['a/n?db=1', 'a:26379/n?…', parameters],
    ['a/n?password=secret', 'a:26379/n?…', parameters],
    ['a/n#secret', 'a:26379/n?…', parameters],
  ])('redis+sentinel://%s', (rest, shown, problem) => {
    for (const scheme of ['redis+sentinel', 'rediss+sentinel']) {
      const load = () => loadConfig({ REDIS_URL: `${scheme}://${rest}` });
      expect(load).toThrow(
        new ConfigError(
          `REDIS_URL ${problem} Write it as ${scheme}://USER:PASSWORD@HOST:26379,HOST:26379/NAME; got "${scheme}://${shown}".`,
        ),
      );
      expect(load).not.toThrow('secret');
    }
  });

  test.each(['sentinel://a/n', 'redis+sentinels://a/n', 'redis-sentinel://a/n', 'REDIS+SENTINEL://a/n'])('%s', (url) => {
    expect(() => loadConfig({ REDIS_URL: url })).toThrow(
      'REDIS_URL must start with redis:// or rediss:// or redis+sentinel:// or rediss+sentinel://.',
    );
  });
});
