import 'server-only';
import { createStore, type Store } from '@homeward/sdk';

let store: Store | undefined;

/** One client for all visitors. Created with the first request, so that `next build` needs neither the address nor the key. */
export function getStore(): Store {
  // A visitor is waiting.
  store ??= createStore({ totalTimeoutMs: 5_000 });
  return store;
}
