// `vi.waitFor` and `vi.waitUntil` give up after a second unless they are told otherwise, which is too soon on cores that others use too.
import { vi } from 'vitest';

/** A limit for what hangs. */
const patience = { timeout: 15_000, interval: 20 };

// Files share a worker, and this is run before each.
const shared = globalThis as { impatient?: Pick<typeof vi, 'waitFor' | 'waitUntil'> };
shared.impatient ??= { waitFor: vi.waitFor, waitUntil: vi.waitUntil };
const { waitFor, waitUntil } = shared.impatient;

vi.waitFor = (callback, options) => waitFor(callback, withPatience(options));
vi.waitUntil = (callback, options) => waitUntil(callback, withPatience(options));

const withPatience = (options: Parameters<typeof waitFor>[1]) =>
  typeof options === 'number' ? { ...patience, timeout: options } : { ...patience, ...options };
