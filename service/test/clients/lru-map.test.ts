import { describe, expect, test } from 'vitest';
import { LruMap } from '../../src/clients/lru-map.ts';

const keys = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => `key ${from + i}`);

describe('LruMap', () => {
  test('never evicts the latest half of its bound, and never exceeds its bound', () => {
    const map = new LruMap<true>(10);
    for (const [i, key] of keys(0, 100).entries()) {
      map.set(key, true);
      expect(map.size).toBeLessThanOrEqual(10);
      expect(keys(Math.max(i - 4, 0), i + 1).every((recent) => map.get(recent))).toBe(true);
    }
    expect(map.get('key 0')).toBeUndefined();
  });

  test('does not evict an entry that is read again and again', () => {
    const map = new LruMap<{ name: string }>(10);
    map.set('busy', { name: 'busy' });
    for (const key of keys(0, 100)) {
      map.set(key, { name: key });
      expect(map.get('busy')).toEqual({ name: 'busy' });
    }
  });

  test('replaces, deletes and clears, whatever the age of the entry', () => {
    const map = new LruMap<{ at: number }>(4);
    for (const [at, key] of keys(0, 3).entries()) map.set(key, { at });
    map.set('key 0', { at: 10 });
    expect(map.get('key 0')).toEqual({ at: 10 });
    map.delete('key 0');
    map.delete('key 1');
    expect([map.get('key 0'), map.get('key 1'), map.get('key 2')]).toEqual([undefined, undefined, { at: 2 }]);
    map.clear();
    expect(map.size).toBe(0);
  });
});
