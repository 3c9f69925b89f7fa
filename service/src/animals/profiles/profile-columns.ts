import {
  type PlainKind,
  type PlainRow,
  type ProfileColumn,
  type StoredProfile,
  storedParts,
  storedRows,
} from '../../domain/profile-fields.ts';

export type ProfileRow = Readonly<Record<ProfileColumn, unknown>>;

/** How the values of a kind are stored. */
interface Storage {
  /** The expression that reads a column. */
  readonly select: (column: string) => string;
  /** From what is read, unless it is null: then the value is empty. */
  readonly read: (stored: never) => unknown;
  readonly write: (value: never) => unknown;
}

const same = <Value>(value: Value) => value;
const asItIs: Storage = { select: same, read: same, write: same };

const storages: { readonly [Kind in PlainKind]: Storage } = {
  text: asItIs,
  line: asItIs,
  url: asItIs,
  currency: asItIs,
  flag: asItIs,
  choice: asItIs,
  labels: asItIs,
  // A bigint column has a BigInt.
  integer: { ...asItIs, read: Number },
  // As text: a Date would be one in the time zone of the process.
  day: { ...asItIs, select: (column) => `to_char(${column}, 'YYYY-MM-DD')` },
  // Animals that were removed since are left out.
  animals: {
    ...asItIs,
    select: (column) => `array(select bonded.id from pets as bonded where bonded.id = any (${column}) and bonded.removed_at is null
      order by array_position(${column}, bonded.id))`,
  },
  pairs: {
    ...asItIs,
    read: (text: string) => JSON.parse(text),
    write: (pairs: object) => (Object.keys(pairs).length === 0 ? null : JSON.stringify(pairs)),
  },
};

interface Column {
  readonly column: ProfileColumn;
  readonly isListed: boolean;
  readonly selected: string;
  /** The value of the column for a profile. */
  readonly write: (profile: StoredProfile) => unknown;
}

/** The columns in the order of the fields. */
export const profileColumns: readonly Column[] = storedRows.flatMap(([name, row]) => {
  const { isListed } = row;
  if (!('fields' in row)) {
    const write = storages[row.kind].write as (value: unknown) => unknown;
    return { ...selected(row), isListed, write: (profile) => write(profile[name]) };
  }
  return storedParts(row).map(([part, partRow]) => ({
    ...selected(partRow),
    isListed,
    write: (profile: StoredProfile) => (profile[name] as Readonly<Record<string, unknown>> | null)?.[part] ?? null,
  }));
});

function selected({ column, kind }: PlainRow): Pick<Column, 'column' | 'selected'> {
  return { column: column as ProfileColumn, selected: storages[kind].select(`profiles.${column}`) };
}

/** What a ProfileRow is selected by. */
export const selectedProfile = profileColumns.map((one) => `${one.selected} as ${one.column}`).join(', ');

/** The same without what no listing shows. */
export const listedProfile = profileColumns.map((one) => `${one.isListed ? one.selected : 'null'} as ${one.column}`).join(', ');

/** All animals that a profile names, as an array: also those that were removed, and may come back. */
export const namedAnimals = storedRows
  .flatMap(([, row]) => ('fields' in row || row.kind !== 'animals' ? [] : `profiles.${row.column}`))
  .join(' || ');

type Reader = (row: ProfileRow) => unknown;

function readerOf({ column, kind, empty }: PlainRow): Reader {
  const read = storages[kind].read as (stored: unknown) => unknown;
  return (row) => {
    const stored = row[column as ProfileColumn];
    return stored === null ? empty : read(stored);
  };
}

/** A copy of an object that has all fields: to add more than a dozen to an empty one is twice as slow, also to read them. */
function objectReader(readers: ReadonlyArray<{ readonly name: string; readonly read: Reader }>) {
  const unread = Object.fromEntries(readers.map(({ name }): [string, unknown] => [name, null]));
  return (row: ProfileRow) => {
    const object = { ...unread };
    for (const { name, read } of readers) object[name] = read(row);
    return object;
  };
}

const readers = storedRows.map(([name, row]) => {
  if (!('fields' in row)) return { name, read: readerOf(row) };
  const read = objectReader(storedParts(row).map(([part, partRow]) => ({ name: part, read: readerOf(partRow) })));
  return { name, read: row.kind === 'fee' ? wholeOrNull(read) : read };
});

function wholeOrNull(read: (row: ProfileRow) => object): Reader {
  return (row) => {
    const object = read(row);
    return Object.values(object).includes(null) ? null : object;
  };
}

export const profileOfRow = objectReader(readers) as (row: ProfileRow) => StoredProfile;
