import { type PetStatus, removed } from './pet-statuses.ts';

/**
 * How an animal leaves the store in another way than by adoption or because it was added by mistake. The API, the command line, history,
 * the worker, `homeward verify` and the documents all use this table and the rules below it.
 */
const table = {
  transferred: { meaning: 'Another shelter or rescue has taken it over.' },
  returned_to_owner: { meaning: 'Its owner has got it back.' },
  died: { meaning: 'It has died.' },
  euthanised: { meaning: 'It was put to sleep.' },
  escaped: { meaning: 'It has run away, or was stolen.' },
  other: { meaning: 'Anything else.' },
} as const satisfies Record<string, { /** For the documents. */ readonly meaning: string }>;

export type OutcomeType = keyof typeof table;

export const outcomes: Readonly<Record<OutcomeType, { readonly meaning: string }>> = table;
export const outcomeTypes = Object.keys(table) as OutcomeType[];

/** An animal that is sold has had its outcome: it was adopted. */
export const outcomeMove = { from: ['available', 'pending'], to: removed } as const satisfies { from: readonly PetStatus[]; to: string };

/** Nobody can order it before staff have looked: it may have been away for weeks. */
export const outcomeUndoing = { from: removed, to: 'pending', days: 30 } as const satisfies { from: string; to: PetStatus; days: number };

/** The kinds of their rows of history. */
export const outcomeKind = 'pet_outcome';
export const undoneKind = 'pet_outcome_undone';

export const mayHaveOutcome = (status: string): boolean => (outcomeMove.from as readonly string[]).includes(status);
