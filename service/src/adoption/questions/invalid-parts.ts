import { AppError } from '../../platform/errors.ts';

const shownMax = 5;

/** Throws if there is a fault. Each is a sentence; the first five are shown, and the others are counted. */
export function rejectFaults(faults: readonly string[]): void {
  if (faults.length === 0) return;
  const others = faults.length > shownMax ? [`And ${faults.length - shownMax} more.`] : [];
  throw new AppError('invalid_body', [...faults.slice(0, shownMax), ...others].join(' '));
}

/** As an error lists them: not all, if they are many. */
export function listed(items: readonly string[]): string {
  const itemsMax = 10;
  const others = items.length > itemsMax ? [`${items.length - itemsMax} more`] : [];
  return [...items.slice(0, itemsMax), ...others].join(', ');
}
