import { type ActingKey, requireStaff } from '../../access/admission/access.ts';
import { theService } from '../../domain/actor.ts';
import type { Db, Searcher, SearchOwner, Settings, Transactor } from '../../platform/db/handles.ts';
import { type ListedOrder, listOrdersById } from '../orders/staff-orders.ts';
import { type AdopterMatch, fillNextWords, foldParts, isFilling, selectMatches, selectNewestMatches } from './adopter-search-queries.ts';
import { type ListedApplication, listApplicationsById } from './staff-applications.ts';
import type { StaffOf } from './staff-queries.ts';

export type FoundAdopter =
  | { readonly application: ListedApplication; readonly order?: never }
  | { readonly order: ListedOrder; readonly application?: never };

export interface FoundAdopters {
  /** Newest first. */
  readonly found: readonly FoundAdopter[];
  /** There are others, some of which may be newer: more has to be typed. */
  readonly isMore: boolean;
  /** After an upgrade: those of before it are not all found yet. */
  readonly isFilling: boolean;
}

/**
 * So many of the newest are compared one by one. What is found often among them is common, and the index would find too much; of a shelter
 * that has no more, they are all.
 */
const readMax = 1_000;
/** What is less common is found by the index: so many are read. */
const foundMax = 1_000;
/** Each part is compared with each row that is read. */
const partsMax = 8;
/** The index has three characters in a row. */
const gramLength = 3;

/** Settings are for the search alone: the planner can't know how common a part is, and to read all adopters is never right. */
export const newestFirst: Settings = { enable_seqscan: 'off', enable_bitmapscan: 'off' };
export const byGrams: Settings = { enable_seqscan: 'off', enable_indexscan: 'off' };

/**
 * Applications and orders of adopters in any state, by parts of name, e-mail address and telephone number, in any order. Staff of a shelter
 * find its own.
 */
export async function findAdopters(
  db: Db & Searcher,
  staff: ActingKey & { readonly clientId: bigint; readonly personId: bigint },
  typed: string,
  limit: number,
): Promise<FoundAdopters> {
  const staffOf = requireStaff(staff, 'manageOrders');
  const { words, domains } = partsOf(typed);
  const folded = (await foldParts(db, [...words, ...domains])).map((part, i) => ({ part, isDomain: i >= words.length }));
  const parts = folded
    .flatMap(({ part, isDomain }) => part.split(' ').map((word) => ({ word, isDomain })))
    .filter(({ word }) => word !== '');
  const { matches, isMore } = parts.length > 0 ? await search(db, staffOf, parts, staff, limit) : { matches: [], isMore: false };
  return { found: await read(db, staff, matches), isMore, isFilling: await isFilling(db) };
}

interface Part {
  readonly word: string;
  /** What follows an @: thousands have their address there. */
  readonly isDomain: boolean;
}

async function search(db: Searcher, staffOf: StaffOf, parts: readonly Part[], owner: SearchOwner, limit: number) {
  const words = parts.map(({ word }) => word);
  const long = parts.filter(({ word }) => word.length >= gramLength);
  const rare = long.filter(({ isDomain }) => !isDomain);
  const indexed = [rare, long, parts].find(({ length }) => length > 0)?.map(({ word }) => word) ?? [];
  // Short ones alone are whole words, as in the name Wu. Beside others they are parts.
  const wanted = long.length > 0 ? words : words.map((word) => ` ${word} `);
  const page = { limit: limit + 1 };
  const newest = await db.search((tx) => selectNewestMatches(tx, staffOf, wanted, { ...page, readMax }), owner, newestFirst);
  if (newest.read < readMax || newest.matches.length > limit) return shownOf(newest.matches, limit);
  const { found, matches } = await db.search(
    (tx) => selectMatches(tx, staffOf, { indexed, parts: wanted }, { ...page, foundMax }),
    owner,
    byGrams,
  );
  const shown = shownOf(matches, limit);
  return { ...shown, isMore: shown.isMore || found === foundMax };
}

const shownOf = (matches: readonly AdopterMatch[], limit: number) => ({ matches: matches.slice(0, limit), isMore: matches.length > limit });

/** As they are now: what was erased or has moved since is not read. An application whose order is found too is not shown twice. */
async function read(db: Db, staff: ActingKey, matches: readonly AdopterMatch[]): Promise<FoundAdopter[]> {
  const idsOf = (subject: AdopterMatch['subject']) => matches.filter((match) => match.subject === subject).map(({ id }) => id);
  const orders = new Map((await listOrdersById(db, staff, idsOf('order'))).map((order) => [order.id, order]));
  const applications = new Map((await listApplicationsById(db, staff, idsOf('application'))).map((one) => [one.id, one]));
  return matches.flatMap(({ subject, id }): FoundAdopter[] => {
    if (subject === 'order') {
      const order = orders.get(id);
      return order?.adopter ? [{ order }] : [];
    }
    const application = applications.get(id);
    if (!application?.adopter || (application.orderId !== null && orders.has(application.orderId))) return [];
    return [{ application }];
  });
}

/** What is typed, by its words; what has no letter is one telephone number. Addresses end with a tag or without. */
function partsOf(typed: string): { words: string[]; domains: string[] } {
  if (isNumber.test(typed)) return { words: [nationalDigits(typed)], domains: [] };
  const all = typed.split(/[\s,;]+/u).slice(0, partsMax);
  const words = all.map((word) => word.replace(/@.*/su, '')).map((word) => (isNumber.test(word) ? nationalDigits(word) : word));
  return { words, domains: all.flatMap((word) => (word.includes('@') ? [word.replace(/.*@/su, '')] : [])) };
}

const isNumber = /^[\d\s()+./\-‐-―]*\d[\d\s()+./\-‐-―]*$/u;

/** The digits without country code and zero, as every way to write the number has them. */
function nationalDigits(typed: string): string {
  const text = typed.replace(/\(\s*0\s*\)/g, '');
  const digits = text.replace(/\D/g, '');
  const national = digits.replace(/^0+/, '');
  // 49 170 … may be written without its plus; what is left is still a part of the number if it wasn't a country code.
  const isLong = !digits.startsWith('0') && digits.length >= 10;
  if (!/^\s*(?:\+|00)/.test(text) && !isLong) return national;
  const rest = national.replace(countryCode, '').replace(/^0+/, '');
  return rest.length >= gramLength ? rest : national;
}

/** ITU-T E.164: those of one digit and of two; all others have three. */
const countryCode = /^(?:[17]|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]|\d{3})/;

/** For the worker, after the upgrade that has brought the table. Returns how many ids it has read; 0: it is done. */
export const fillAdopterWords = async (db: Transactor, count: number): Promise<number> =>
  (await isFilling(db)) ? db.transaction((tx) => fillNextWords(tx, count), theService) : 0;
