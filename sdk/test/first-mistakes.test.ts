// What createStore says when it is given too little, or something that can't be right.
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createStore, type StoreOptions } from '../src/index.ts';

const key = 'hw_live_1aSecretThatNoMessageMayContain0000abcdef';
const url = 'https://homeward.example';

beforeEach(() => {
  vi.stubEnv('HOMEWARD_URL', undefined);
  vi.stubEnv('HOMEWARD_KEY', undefined);
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

function mistake(options?: object): string {
  try {
    createStore(options as StoreOptions);
    return 'none';
  } catch (error) {
    return error instanceof TypeError ? error.message : `not a TypeError: ${String(error)}`;
  }
}

/** The address and key of the first request. */
async function firstRequest(options: StoreOptions): Promise<{ href: string; authorization: string | null }> {
  let seen = { href: '', authorization: null as string | null };
  const watched: typeof fetch = async (input, init) => {
    seen = { href: String(input as string), authorization: new Headers(init?.headers).get('authorization') };
    return new Response('[]');
  };
  await createStore({ ...options, fetch: watched }).pets.find(1);
  return seen;
}

describe('without URL or key', () => {
  test('the error names what is missing and the variables to set', () => {
    expect(mistake()).toBe(
      'The URL of the store is missing. Set the environment variable HOMEWARD_URL, or pass `url` to createStore.\n' +
        'The API key is missing. Set the environment variable HOMEWARD_KEY, or pass `key` to createStore.',
    );
    expect(mistake({ url })).toMatch(/^The API key is missing\. .*HOMEWARD_KEY/);
    expect(mistake({ url: undefined, key })).toMatch(/^The URL of the store is missing\. .*HOMEWARD_URL/);
    expect(mistake({ url: '', key: '' })).toBe(mistake());
  });

  test('both are taken from the environment', async () => {
    vi.stubEnv('HOMEWARD_URL', 'https://other.example/v1');
    vi.stubEnv('HOMEWARD_KEY', key);
    expect(await firstRequest({})).toEqual({ href: 'https://other.example/v1/pets?id=1', authorization: `Bearer ${key}` });
  });

  test('options come before the environment', async () => {
    vi.stubEnv('HOMEWARD_URL', 'https://other.example');
    vi.stubEnv('HOMEWARD_KEY', 'hw_live_other');
    expect(await firstRequest({ url, key })).toEqual({ href: `${url}/v1/pets?id=1`, authorization: `Bearer ${key}` });
  });

  test('in Deno they are read by Deno.env, and are missing if the program may not read them', async () => {
    vi.stubGlobal('Deno', { env: { get: (name: string) => ({ HOMEWARD_URL: url, HOMEWARD_KEY: key })[name] } });
    expect(await firstRequest({})).toEqual({ href: `${url}/v1/pets?id=1`, authorization: `Bearer ${key}` });
    const get = () => {
      throw new Error('Requires env access to "HOMEWARD_URL", run again with the --allow-env flag');
    };
    vi.stubGlobal('Deno', { env: { get } });
    expect(mistake()).toMatch(/^The URL of the store is missing\./);
  });

  test('a runtime without an environment has none', () => {
    vi.stubGlobal('process', undefined);
    expect(mistake()).toMatch(/^The URL of the store is missing\./);
  });
});

describe('a URL', () => {
  test.each([
    ['https://homeward.example', 'https://homeward.example/v1/pets?id=1'],
    ['https://homeward.example/', 'https://homeward.example/v1/pets?id=1'],
    ['https://homeward.example/v1', 'https://homeward.example/v1/pets?id=1'],
    ['https://homeward.example/v1/', 'https://homeward.example/v1/pets?id=1'],
    ['https://homeward.example\n', 'https://homeward.example/v1/pets?id=1'],
    ['http://[::1]:8080', 'http://[::1]:8080/v1/pets?id=1'],
    ['https://shelter.example/homeward/v1', 'https://shelter.example/homeward/v1/pets?id=1'],
    [new URL('https://homeward.example'), 'https://homeward.example/v1/pets?id=1'],
  ])('%j is accepted', async (given, href) => {
    expect((await firstRequest({ url: given, key })).href).toBe(href);
  });

  test.each([
    ['homeward.example', 'must start with https:// or http://, such as https://homeward.example; got "homeward.example".'],
    ['localhost:8080', 'must start with https:// or http://, such as https://homeward.example; got "localhost:8080".'],
    ['ftp://homeward.example', 'must start with https:// or http://'],
    ['https://', 'must start with https:// or http://'],
    ['https://homeward.example/v1/pets', 'got "https://homeward.example/v1/pets". Try https://homeward.example'],
    ['https://homeward.example/docs', 'without the path of an operation or page'],
    ['https://homeward.example/?status=available', 'must end after the host'],
    ['https://homeward.example/#docs', 'must end after the host'],
    ['https://ada:secret@homeward.example', 'contains a user name or a password'],
    ['undefined', 'is the name of a variable'],
    ['$HOMEWARD_URL', 'is the name of a variable'],
    [key, 'Check that `url` and `key` are not swapped.'],
    [` Bearer ${key}`, 'Check that `url` and `key` are not swapped.'],
  ])('%j is rejected', (given, expected) => {
    const message = mistake({ url: given, key });
    expect(message).toContain(expected);
    expect(message).not.toContain(key.slice(8));
    expect(message).not.toContain('secret@');
  });

  test('that is a key of another format is not shown either', () => {
    expect(mistake({ url: 'another-format', key: 'another-format' })).not.toContain('another-format');
  });
});

describe('a key', () => {
  test.each([
    [`${key}\n`, 'contains a space or a line break'],
    [` ${key}`, 'contains a space or a line break'],
    [`${key.slice(0, 20)} ${key.slice(20)}`, 'contains a space or a line break'],
    [`Bearer ${key}`, 'starts with "Bearer"'],
    [`"${key}"`, 'has quotation marks around it'],
    [`${key}é`, 'contains a character that no key has'],
    [`${key}\u200b`, 'contains a character that no key has'],
    ['hw_live_…', 'is the name of a variable or a placeholder'],
    ['undefined', 'is the name of a variable or a placeholder'],
    ['null', 'is the name of a variable or a placeholder'],
    ['HOMEWARD_KEY', 'is the name of a variable or a placeholder'],
    ['$HOMEWARD_KEY', 'is the name of a variable or a placeholder'],
    [`\${HOMEWARD_KEY}`, 'is the name of a variable or a placeholder'],
    ['%HOMEWARD_KEY%', 'is the name of a variable or a placeholder'],
    ['process.env.HOMEWARD_KEY', 'is the name of a variable or a placeholder'],
    ['whsec_AAAA', 'is the secret of a webhook'],
    [url, 'is a URL'],
    [42, 'must be a string; got number'],
    [{}, 'must be a string; got object'],
  ])('%j is rejected, and not shown', (given, expected) => {
    const message = mistake({ url, key: given });
    expect(message).toContain(expected);
    for (const part of [key.slice(0, 20), key.slice(20), 'AAAA']) expect(message).not.toContain(part);
  });

  test('from the environment is checked as well', () => {
    vi.stubEnv('HOMEWARD_KEY', 'undefined');
    expect(mistake({ url })).toContain('Check how HOMEWARD_KEY is set and read.');
  });
});

describe('in a browser', () => {
  test('a key is warned about once, without showing it', async () => {
    vi.resetModules();
    const { createStore: fresh } = await import('../src/index.ts');
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    fresh({ url, key });
    expect(warn).not.toHaveBeenCalled();
    vi.stubGlobal('window', globalThis);
    vi.stubGlobal('document', {});
    fresh({ url, key });
    fresh({ url, key });
    expect(warn.mock.calls).toEqual([[expect.stringMatching(/^Homeward: this page has an API key\./)]]);
    expect(JSON.stringify(warn.mock.calls)).not.toContain(key);
  });
});

describe('a store that was never reached', () => {
  test('is reported at the first failure, once, and not only after the total timeout', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    const store = createStore({ url: 'http://127.0.0.1:9', key, totalTimeoutMs: 1_200 });
    await Promise.allSettled([store.pets.find(1), store.pets.find(2)]);
    expect(warn.mock.calls).toEqual([[expect.stringMatching(/127\.0\.0\.1:9 .* Retrying for up to 1\.2 s\.$/)]]);
  });

  test('is not reported if it has responded before', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    let calls = 0;
    const flaky: typeof fetch = async () => {
      calls += 1;
      if (calls === 2) throw new TypeError('fetch failed');
      return new Response('[]');
    };
    const store = createStore({ url, key, fetch: flaky });
    await store.pets.find(1);
    await store.pets.find(1);
    expect(calls).toBe(3);
    expect(warn).not.toHaveBeenCalled();
  });
});
