import type { ScenarioMutant } from './scenario.ts';

/** A commit without a reply counts as done. */
export function unknownIsSuccess(name: string): ScenarioMutant {
  return {
    name,
    edits: [
      {
        file: 'platform/db/postgres-failures.ts',
        from: 'throw isUnknown(error) ? new UnconfirmedCommit(error) : error;',
        to: 'if (isUnknown(error)) return undefined as T;\n    throw error;',
      },
    ],
  };
}
