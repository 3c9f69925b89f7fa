import type { Permission } from './scopes.ts';

/**
 * What a person does in the console and can undo for two minutes. What a key or a command does is final at once. The console, the history,
 * the feed and the documents use this table; which orders and applications it takes back is in their tables of actions (`isUndoable`).
 */
const table = {
  adopted: { needs: 'changePets', meaning: 'An animal was marked as adopted.' },
  accepted: { needs: 'manageOrders', meaning: 'An application was accepted. Undone, its order is cancelled.' },
  declined: { needs: 'manageOrders', meaning: 'An application was declined.' },
  handed_over: { needs: 'manageOrders', meaning: 'An adoption was completed. Undone, its order is approved again.' },
  taken_back: { needs: 'manageOrders', meaning: 'An adopted animal was taken back.' },
  left: { needs: 'changePets', meaning: 'It was noted that an animal has left without an adoption.' },
  removed: { needs: 'editPets', meaning: 'An animal that was added by mistake was removed.' },
  held: { needs: 'changePets', meaning: 'An animal was held, or its hold was changed.' },
  hold_ended: { needs: 'changePets', meaning: 'The hold of an animal was ended.' },
  photo_removed: { needs: 'describePets', meaning: 'A photo was removed.' },
} as const satisfies Record<string, UndoableRow>;

interface UndoableRow {
  /** Who has acted must still be permitted this where the animal is. An admin there may undo it, too. */
  readonly needs: Extract<Permission, 'changePets' | 'editPets' | 'describePets' | 'manageOrders'>;
  /** For the documents. */
  readonly meaning: string;
}

export type UndoableKind = keyof typeof table;
export const undoableKinds = Object.keys(table) as UndoableKind[];
export const undoableActs: Readonly<Record<UndoableKind, UndoableRow>> = table;

/** Until then nobody is told by mail. By PostgreSQL's clock. */
export const undoSeconds = 120;

/** The kind of the row of history by which an animal is as it was before an act. */
export const restoredKind = 'pet_restored';
