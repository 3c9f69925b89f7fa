// Operations in words, for the findings.
import type { Attempt, Operation } from '../history.ts';

const outcomes = { ok: 'acknowledged', failed: 'failed', unknown: 'outcome unknown' } as const;

/** Times are seconds since the history began. */
export function describeOperation(operation: Operation, originMs: number): string {
  const [first] = operation.attempts;
  const last = operation.attempts.at(-1);
  if (!first || !last) return `#${operation.id} ${whatWasAsked(operation)}, never sent`;
  const tries = operation.attempts.length === 1 ? '' : `, ${operation.attempts.length} attempts`;
  const replayed = last.isReplayed ? ', replayed' : '';
  return `#${operation.id} ${whatWasAsked(operation)} (process ${last.process}, ${seconds(first.beginMs, originMs)} to ${seconds(last.endMs, originMs)}${tries}, ${statusOf(last)}, ${outcomes[operation.outcome]}${replayed})`;
}

export const seconds = (atMs: number, originMs: number): string => `${((atMs - originMs) / 1_000).toFixed(3)} s`;

const statusOf = ({ status, code }: Attempt) => [status || 'no response', code].filter(Boolean).join(' ');

function whatWasAsked(operation: Operation): string {
  switch (operation.kind) {
    case 'create':
      return `creates "${operation.asked.name}"`;
    case 'change':
      return `changes animal ${operation.petId} from "${operation.expected.name}" (${operation.expected.status}) to "${operation.asked.name}" (${operation.asked.status})`;
    case 'remove':
      return `removes animal ${operation.petId}, expected as "${operation.expected.name}" (${operation.expected.status})`;
    case 'place':
      return `places order ${operation.orderToken} for animal ${operation.petId}`;
    case 'act':
      return `asks to ${operation.action} order ${operation.orderToken} (id ${operation.orderId}) of animal ${operation.petId}`;
    case 'read':
      return `reads animal ${operation.petId}`;
    case 'list':
      return `lists animals ${operation.petIds.join(', ')}${operation.status === undefined ? '' : ` that are ${operation.status}`}`;
  }
}
