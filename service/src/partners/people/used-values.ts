import { hash } from 'node:crypto';
import type { Transaction } from '../../platform/db/handles.ts';
import { insertUsedValue } from './used-value-queries.ts';

/**
 * False: the value was used before. Only what was used is recorded, and only until `expiresAt`: from then on its signature must be invalid,
 * since nobody knows any more that it was used.
 */
export const useOnce = (tx: Transaction, purpose: string, value: string, expiresAt: Date): Promise<boolean> =>
  insertUsedValue(tx, purpose, hash('sha256', value, 'buffer'), expiresAt);
