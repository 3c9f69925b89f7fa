import { expect, test } from 'vitest';
import { UploadSlots } from '../../../src/animals/photos/upload-allowance.ts';

const slots = new UploadSlots();
const person = (personId: bigint, clientId = 7n) => ({ clientId, keyId: null, personId });
const taken = (caller: Parameters<UploadSlots['take']>[0]): Disposable | string => {
  try {
    return slots.take(caller);
  } catch (error) {
    return (error as Error).message;
  }
};

test('a person has two slots, the people of a client sixteen, those of another client their own, and keys are not in their way', () => {
  using held = new DisposableStack();
  const hold = (caller: Parameters<UploadSlots['take']>[0]) => held.use(slots.take(caller));
  for (let personId = 1n; personId <= 7n; personId += 1n) for (let n = 0; n < 2; n += 1) hold(person(personId));
  const last = slots.take(person(8n));
  hold(person(9n));
  expect(taken(person(7n))).toBe('This person is already sending 2 photos; 2 at once are allowed. Retry in 1 s.');
  const full = 'The people of this client are already sending 16 photos; 16 at once are allowed. Retry in 1 s.';
  // What was refused by the client has taken nothing of the person.
  for (let n = 0; n < 3; n += 1) expect(taken(person(9n))).toBe(full);
  hold(person(10n, 8n));
  hold({ clientId: 9n, keyId: 1n, personId: null });
  last[Symbol.dispose]();
  hold(person(9n));
  expect(taken(person(8n))).toBe(full);
});

test('a process has 64 slots', () => {
  using held = new DisposableStack();
  for (let clientId = 1n; clientId <= 32n; clientId += 1n) {
    for (let n = 0; n < 2; n += 1) held.use(slots.take({ clientId, keyId: 1n, personId: null }));
  }
  expect(taken({ clientId: 99n, keyId: 1n, personId: null })).toBe('Too many photos are being sent at the moment. Retry in 1 s.');
});
