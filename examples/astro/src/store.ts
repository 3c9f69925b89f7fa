import { HOMEWARD_KEY, HOMEWARD_URL } from 'astro:env/server';
import { createStore } from '@homeward/sdk';

/** One client for all visitors. A visitor is waiting, hence the short timeout. */
export const store = createStore({ url: HOMEWARD_URL, key: HOMEWARD_KEY, totalTimeoutMs: 5_000 });
