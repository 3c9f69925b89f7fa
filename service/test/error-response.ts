import { expect } from 'vitest';
import type { ErrorCode } from '../src/errors.ts';

/** What an answer that refuses looks like, for toMatchObject; its message has these words in it. */
export const errorResponse = (status: number, code: ErrorCode, words = '') => ({
  status,
  json: { code, status, message: expect.stringContaining(words) },
});
