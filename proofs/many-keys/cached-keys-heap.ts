// The heap of a process that has seen many keys, each of its own client: node --expose-gc cached-keys-heap.ts COUNT
// Prints JSON: the keys that are still cached, and the bytes that they take.
import { hashApiKey } from '../../service/src/access/clients/api-key.ts';
import { KeyCache, KnownKey } from '../../service/src/access/clients/key-finder.ts';

export interface CachedKeysHeap {
  readonly cached: number;
  readonly bytes: number;
}

const count = Number(process.argv[2]);
const collectGarbage = (globalThis as { gc?: () => void }).gc ?? (() => {});
const hashOf = (number: number) => hashApiKey(String(number), 'base64');

const cache = new KeyCache();
const bytesBefore = heapBytes();
for (let number = 0; number < count; number += 1) {
  const found = {
    id: BigInt(number + 1),
    clientId: BigInt(number + 1),
    scopes: ['pets:read', 'pets:write'],
    expiresAt: null,
    revokedAt: null,
    replacedBy: null,
    shelterId: null,
    plan: 'pro',
    perMinute: null,
    perDay: null,
    openOrdersMax: null,
    newCategoriesMax: null,
    suspension: null,
  } as const;
  // Redis replies to many requests at once; the epoch is a part of that text.
  const reply = `${'admitted 1 1 1 1 0 0 0 '.repeat(15)}stale ${'e'.repeat(12)}${number.toString(36)}`;
  cache.set(new KnownKey(hashOf(number), found, { epoch: reply.slice(reply.lastIndexOf(' ') + 1), generation: 0 }));
}
const bytes = heapBytes() - bytesBefore;
let cached = 0;
for (let number = 0; number < count; number += 1) if (cache.get(hashOf(number))) cached += 1;
console.log(JSON.stringify({ cached, bytes } satisfies CachedKeysHeap));

function heapBytes(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
