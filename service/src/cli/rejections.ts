import { AppError } from '../errors.ts';
import { UsageError } from './output.ts';

/** Errors that the API would return to a caller are usage errors of the operator here. */
export function asUsageError(error: unknown): never {
  throw error instanceof AppError && error.status < 500 ? new UsageError(error.message) : error;
}
