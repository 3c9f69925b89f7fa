import { type PetStatus, petStatuses } from '../../domain/pet-statuses.ts';

/** What the filters of a list compare. */
export interface PetState {
  readonly categoryId: bigint;
  readonly status: PetStatus;
}

/** A change of one animal, as far as it decides which lists show it. */
export interface PetChange {
  readonly id: bigint;
  /** Undefined: the animal is new. */
  readonly before: PetState | undefined;
  /** Undefined: the animal is removed. */
  readonly after: PetState | undefined;
}

/** `everything`: some change is not known, so any list may have changed. */
export type PetChanges = readonly PetChange[] | typeof everything;
export const everything = 'everything';

/**
 * The rows that a page depends on: those that match its filters, with ids in its range. Rows before the range were on earlier
 * pages, and rows behind it can't move into the page, since it is already full.
 */
export interface Footprint {
  readonly categoryId: bigint | undefined;
  readonly status: PetStatus | undefined;
  readonly ids: ReadonlySet<bigint> | undefined;
  /** The last id of the page before; 0: this is the first page. */
  readonly after: bigint;
  /** The id that shows that another page follows; undefined: none follows, so the page depends on every later id. */
  readonly last: bigint | undefined;
}

/** Whether a page may look different after the change. */
export function touches({ categoryId, status, ids, after, last }: Footprint, change: PetChange): boolean {
  const { id } = change;
  if (id <= after || (last !== undefined && id > last) || (ids && !ids.has(id))) return false;
  const matches = (state: PetState | undefined) =>
    state !== undefined &&
    (categoryId === undefined || state.categoryId === categoryId) &&
    (status === undefined || state.status === status);
  return matches(change.before) || matches(change.after);
}

export const everythingText = '*';

export function writeChanges(changes: PetChanges): string {
  if (changes === everything) return everythingText;
  return changes.map(({ id, before, after }) => `${id}:${writeState(before)}:${writeState(after)}`).join(' ');
}

/** Text that this release can't read may be of a later one, and counts as everything. */
export function readChanges(text: string): PetChanges {
  if (text === '') return [];
  const changes: PetChange[] = [];
  for (const part of text.split(' ')) {
    const [, id, before = '', after = ''] = changeText.exec(part) ?? [];
    if (id === undefined) return everything;
    changes.push({ id: BigInt(id), before: readState(before), after: readState(after) });
  }
  return changes;
}

/** Of a regular expression. */
export const stateText = `(?:-?\\d{1,19}/(?:${petStatuses.join('|')}))?`;
const changeText = new RegExp(`^(\\d{1,19}):(${stateText}):(${stateText})$`);

export const writeState = (state: PetState | undefined) => (state ? `${state.categoryId}/${state.status}` : '');

export function readState(text: string): PetState | undefined {
  const [categoryId = '', status = ''] = text.split('/');
  return text === '' ? undefined : { categoryId: BigInt(categoryId), status: status as PetStatus };
}
