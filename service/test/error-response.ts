import { expect } from 'vitest';
import type { ErrorCode } from '../src/platform/errors.ts';

/** An error response whose message contains these words, for toMatchObject. */
export const errorResponse = (status: number, code: ErrorCode, words = '') => ({
  status,
  json: { code, status, message: expect.stringContaining(words) },
});
