import { describe, expect, test } from 'vitest';
import { AddressBudget } from '../../../src/animals/photos/upload-allowance.ts';
import { pictureName } from '../../../src/images/photo-store.ts';
import { disposeAfterAll } from '../../dispose-after-all.ts';
import { createPhotoStore } from '../../photo-steps.ts';
import { createTestStore } from '../../test-store.ts';

const hash = 'ab12'.repeat(16);
const url = `/photos/${hash}.webp`;
const photos = disposeAfterAll(await createPhotoStore());
await photos.files.put(pictureName(hash), Buffer.from('picture'));
await photos.files.put('originals/secret', Buffer.from('original'));

describe('GET /photos/{hash}.webp', () => {
  test('needs no key, and may be cached for ever by everyone', async () => {
    const { status, text, headers } = await photos.store.call('GET', url);
    expect({ status, text }).toEqual({ status: 200, text: 'picture' });
    expect(headers).toMatchObject({
      'content-type': 'image/webp',
      'content-length': '7',
      'cache-control': 'public, max-age=31536000, immutable',
      etag: `"${hash}"`,
      'x-content-type-options': 'nosniff',
      'access-control-allow-origin': '*',
    });
    expect(headers['x-ratelimit-limit']).toBeUndefined();
  });

  test('is 304 without a body for a caller that has it, also if the file is gone: its content never changes', async () => {
    for (const held of [`"${hash}"`, `W/"${hash}"`, `"other", "${hash}"`]) {
      expect(await photos.store.call('GET', url, { headers: { 'if-none-match': held } })).toMatchObject({
        status: 304,
        text: '',
        headers: { etag: `"${hash}"`, 'cache-control': 'public, max-age=31536000, immutable' },
      });
    }
    const gone = 'cd34'.repeat(16);
    const statusFor = async (held: string) =>
      (await photos.store.call('GET', `/photos/${gone}.webp`, { headers: { 'if-none-match': held } })).status;
    expect(await statusFor(`"${gone}"`)).toBe(304);
    for (const held of ['*', `"${hash}"`]) expect(await statusFor(held)).toBe(404);
  });

  test('by HEAD has the same headers and no body, and of a missing file is 404', async () => {
    expect((await photos.store.call('HEAD', `/photos/${'0'.repeat(64)}.webp`)).status).toBe(404);
    expect(await photos.store.call('HEAD', url)).toMatchObject({
      status: 200,
      text: '',
      headers: { 'content-length': '7', 'content-type': 'image/webp', etag: `"${hash}"` },
    });
  });

  test.each([
    `/photos/${'0'.repeat(64)}.webp`,
    `/photos/${hash}`,
    `/photos/${hash.toUpperCase()}.webp`,
    '/photos/secret',
    '/photos/..%2foriginals%2fsecret',
    '/photos/%2e%2e%2foriginals%2fsecret.webp',
    `/photos/${hash}.webp%00`,
    '/photos/',
  ])('of %s is 404', async (path) => {
    const { status, text } = await photos.store.call('GET', path);
    expect(status).toBe(404);
    expect(text).not.toContain('original');
  });

  test('in a store without photos is 404', async () => {
    await using off = await createTestStore();
    expect((await off.call('GET', url)).status).toBe(404);
  });
});

describe('The budget of an address', () => {
  test('is a burst of 400, then 50 a second, and other addresses have their own', () => {
    const budget = new AddressBudget();
    const admitted = (address: string, nowMs: number, tries = 1_000) =>
      Array.from({ length: tries }, () => budget.take(address, nowMs)).filter((wait) => wait === 0).length;
    expect(admitted('a', 0)).toBe(400);
    expect(admitted('b', 0)).toBe(400);
    expect(admitted('a', 1_000)).toBe(50);
    expect(admitted('a', 3_600_000)).toBe(400);
  });

  test('is enforced with 429 and Retry-After', async () => {
    const responses = [];
    for (let i = 0; i < 40; i += 1) responses.push(...(await Promise.all(Array.from({ length: 20 }, () => photos.store.call('GET', url)))));
    const refused = responses.find(({ status }) => status === 429);
    expect(refused).toMatchObject({ text: 'Too many photos at once. Retry in 1 s.\n', headers: { 'retry-after': '1' } });
  });
});
