import { isDeepStrictEqual } from 'node:util';
import { insufficientScope, requireShelter } from '../../access/admission/access.ts';
import { type AuditAuthor, type AuditedValues, changedValues, recordAudit } from '../../access/audit/audit.ts';
import type { CatalogueTransaction } from '../../animals/list-cache/catalogue.ts';
import { type Acting, type KeyRights, staffReach, theService } from '../../domain/actor.ts';
import { faultsOfOpeningHours, type OpeningHours } from '../../domain/opening-hours.ts';
import { type ShelterWords, type WordField, wordFields } from '../../domain/shelters.ts';
import { isDay } from '../../platform/clock.ts';
import type { Db, Transaction, Transactions, Transactor } from '../../platform/db/handles.ts';
import { parseInt64 } from '../../platform/db/int64.ts';
import { AppError, type ErrorCode, show } from '../../platform/errors.ts';
import { rejectFaults, shelterNotFound } from '../questions/questions.ts';
import { queueAddressMail } from './address-mail.ts';
import {
  findConfirmed,
  findShelter,
  insertShelter,
  lockShelter,
  type NamedShelter,
  selectShelterNames,
  selectSheltersByName,
  selectSheltersCalled,
  selectWaiting,
  updateShelter,
  upsertConfirmed,
} from './shelter-queries.ts';
import {
  lengthsMax,
  type NewShelter,
  type Shelter,
  type ShelterChanges,
  type ShelterValues,
  shelterDefaults,
  shelterFields,
} from './shelter-schemas.ts';

/** Throws if the locked shelter is not the version that the caller expects. */
type Expectation = (shelter: Shelter) => void;

/** The errors of the operations, for the documents. */
export const shelterErrors = {
  get: ['shelter_not_found'],
  create: ['recorded_change_limit'],
  change: ['shelter_not_found', 'recorded_change_limit'],
  movePet: ['pet_not_found', 'shelter_not_found', 'external_id_taken'],
} as const satisfies Record<string, readonly ErrorCode[]>;

export async function getShelter(db: Db, id: bigint): Promise<Shelter> {
  const shelter = await findShelter(db, id);
  if (!shelter) throw shelterNotFound(String(id));
  return shelter;
}

/** Only store staff add shelters, so a trigger confirms what they say of one. */
export async function createShelter(tx: Transaction, by: AuditAuthor, input: NewShelter): Promise<Shelter> {
  const shelter = await insertShelter(tx, checked(merge(empty, input)));
  const after = auditedValues(shelter);
  await recordAudit(tx, by, 'shelter.created', { targetId: shelter.id, shelterId: shelter.id, after });
  return shelter;
}

/** A merge patch: null removes a value. */
export async function changeShelter(
  catalogue: Transactions<CatalogueTransaction>,
  id: bigint,
  changes: ShelterChanges,
  { key, by, expect, mails }: Mails & { key: KeyRights & Acting; by: AuditAuthor; expect: Expectation },
): Promise<Shelter> {
  return catalogue.transaction(async (tx) => {
    const locked = await lockShelter(tx, id);
    if (!locked) throw shelterNotFound(String(id));
    const { shelter, changedIn } = locked;
    requireShelter(key, 'manageShelters', id);
    expect(shelter);
    const values = checked(merge(shelter, changes));
    const before = await findConfirmed(tx, id);
    const confirmed = isStoreStaff(key) ? confirmedByWriting(before, changes, values) : before;
    if (isSame(values, shelter) && isSameWords(confirmed, before)) {
      if (changedIn !== null) tx.acknowledge(changedIn);
      return shelter;
    }
    const changed = await save(tx, { ...shelter, confirmed: before }, { id, ...values, confirmed });
    if (mails && changed.email !== null && changed.email !== shelter.email && changed.email !== confirmed.email)
      await queueAddressMail(tx, id);
    const differences = changedValues(auditedValues(shelter), auditedValues(changed));
    if (differences) await recordAudit(tx, by, 'shelter.changed', { targetId: id, shelterId: id, ...differences });
    return changed;
  }, key);
}

/** What a shelter says, and mail and searches for places don't have yet. */
export interface WaitingShelter {
  readonly shelter: Shelter;
  readonly confirmed: ShelterWords;
  readonly waiting: readonly WordField[];
}

interface Mails {
  /** Mail is on: e-mail addresses are confirmed by links. */
  readonly mails: boolean;
}

export async function listWaitingShelters(
  db: Db,
  { afterId, limit, mails }: Mails & { readonly afterId: bigint; readonly limit: number },
): Promise<WaitingShelter[]> {
  const found = await selectWaiting(db, { afterId, limit, fields: wordFields.filter((field) => field !== 'email' || mails) });
  return found.map(({ shelter, confirmed }) => ({ shelter, confirmed, waiting: waitingFields(shelter, confirmed, { mails }) }));
}

/** Of one, also if nothing waits. */
export async function getWaiting(db: Db, id: bigint, mails: Mails): Promise<WaitingShelter> {
  const [shelter, confirmed] = [await getShelter(db, id), await findConfirmed(db, id)];
  return { shelter, confirmed, waiting: waitingFields(shelter, confirmed, mails) };
}

export interface ConfirmedShelter {
  readonly shelter: Shelter;
  readonly confirmed: readonly WordField[];
  /** A link that confirms the e-mail address is mailed there. */
  readonly asksByMail: boolean;
}

/** Store staff have looked at what the shelter says. Its e-mail address is confirmed by the people who read mail there: they are asked again. */
export async function confirmShelter(
  catalogue: Transactions<CatalogueTransaction>,
  id: bigint,
  { key, by, mails, expect }: Mails & { readonly key: KeyRights & Acting; readonly by: AuditAuthor; readonly expect: Expectation },
): Promise<ConfirmedShelter> {
  return catalogue.transaction(async (tx) => {
    const locked = await lockShelter(tx, id);
    if (!locked) throw shelterNotFound(String(id));
    const { shelter, changedIn } = locked;
    if (!isStoreStaff(key)) throw insufficientScope('Only the staff of the store confirm what shelters say.', ['store:manage']);
    expect(shelter);
    const before = await findConfirmed(tx, id);
    const waiting = waitingFields(shelter, before, { mails });
    const asksByMail = waiting.includes('email');
    if (asksByMail) await queueAddressMail(tx, id);
    const fields = waiting.filter((field) => field !== 'email');
    const confirmed = { ...before, ...confirmedWordsOf(shelter, fields) };
    if (fields.length > 0) {
      await save(tx, { ...shelter, confirmed: before }, { ...shelter, confirmed });
      await recordAudit(tx, by, 'shelter.confirmed', {
        targetId: id,
        shelterId: id,
        before: confirmedWordsOf(before, fields),
        after: confirmedWordsOf(confirmed, fields),
      });
    } else if (changedIn !== null) tx.acknowledge(changedIn);
    return { shelter, confirmed: fields, asksByMail };
  }, key);
}

/** The address of a shelter, and whether it is confirmed. Undefined: it has none. */
export async function findAddress(
  db: Db,
  id: bigint,
): Promise<{ readonly email: string; readonly name: string | null; readonly isConfirmed: boolean } | undefined> {
  const email = (await findShelter(db, id))?.email;
  if (!email) return undefined;
  const confirmed = await findConfirmed(db, id);
  return { email, name: confirmed.name, isConfirmed: confirmed.email === email };
}

/** Somebody has followed the link that was mailed there. False: the shelter has another address now. */
export const confirmShelterAddress = (db: Transactor, id: bigint, isAddress: (email: string) => boolean): Promise<boolean> =>
  db.transaction(async (tx) => {
    const email = (await lockShelter(tx, id))?.shelter.email;
    if (!email || !isAddress(email)) return false;
    await upsertConfirmed(tx, id, { ...(await findConfirmed(tx, id)), email });
    return true;
  }, theService);

interface Locked extends Shelter {
  readonly confirmed: ShelterWords;
}

/** Writes the shelter, which is locked as `before`. */
async function save(tx: CatalogueTransaction, before: Locked, { confirmed, ...shelter }: Locked): Promise<Shelter> {
  const isMoved =
    placeFields.some((field) => shelter[field] !== before[field]) ||
    placeWords.some((field) => confirmed[field] !== before.confirmed[field]);
  if (!isSameWords(confirmed, before.confirmed)) await upsertConfirmed(tx, shelter.id, confirmed);
  return updateShelter(tx, shelter, isMoved);
}

/** What searches for a place compare. Words are read as a place if they are confirmed. */
const placeWords = ['town', 'postcode'] as const;
const placeFields = ['latitude', 'longitude', ...placeWords] as const satisfies ReadonlyArray<keyof ShelterValues>;

/** What the audit says of a shelter. Long texts are public and are not repeated there. */
const auditedValues = (shelter: ShelterValues): AuditedValues =>
  Object.fromEntries(shelterFields.map((field) => [field, brief(shelter[field])]));

const brief = (value: ShelterValues[keyof ShelterValues]) => {
  const text = typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
  return typeof text === 'string' && text.length > briefMax ? `${text.slice(0, briefMax)}…` : text;
};

const briefMax = 200;

/** Without a name, which is always given. */
const empty = { ...Object.fromEntries(shelterFields.map((field) => [field, null])), ...shelterDefaults } as unknown as ShelterValues;

/** Field by field, since the body may contain other fields, such as an id. */
const merge = (values: ShelterValues, changes: ShelterChanges) =>
  Object.fromEntries(
    shelterFields.map((field) => [field, changes[field] === undefined ? values[field] : changes[field]]),
  ) as unknown as ShelterValues;

const isSame = (one: ShelterValues, other: ShelterValues) => shelterFields.every((field) => isDeepStrictEqual(one[field], other[field]));

/** Checks what a schema can't. Returns the values as they are stored. */
function checked(values: ShelterValues): ShelterValues {
  const { latitude, longitude, timezone, website, openingHours } = values;
  if ((latitude === null) !== (longitude === null)) {
    const [missing, present] = latitude === null ? ['latitude', 'longitude'] : ['longitude', 'latitude'];
    throw new AppError('invalid_body', `${missing} is missing: ${present} needs it. Give both, or remove both with null.`);
  }
  if (timezone !== null && !isTimezone(timezone)) {
    throw new AppError('invalid_body', `timezone must be a name of the IANA database, such as Europe/Vienna; got ${show(timezone)}.`);
  }
  return { ...values, website: website === null ? null : readWebsite(website), openingHours: openingHours && checkedHours(openingHours) };
}

/** In the order of their dates, so that the same days are the same value. */
function checkedHours(hours: OpeningHours): OpeningHours {
  const path = 'openingHours';
  const unknown = hours.exceptions.flatMap(({ date }, i) =>
    isDay(date) ? [] : [`${path}.exceptions[${i}].date must be a day of the calendar, such as 2026-12-24; got ${date}.`],
  );
  rejectFaults([...unknown, ...faultsOfOpeningHours(hours, path)]);
  return { ...hours, exceptions: hours.exceptions.toSorted((one, other) => one.date.localeCompare(other.date)) };
}

/** Intl also accepts offsets such as +01:00, which don't know of summer time. */
function isTimezone(text: string): boolean {
  if (!/^[A-Za-z]/.test(text)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: text });
    return true;
  } catch {
    return false;
  }
}

/** As it is stored: encoded, in visible ASCII. Sites show it as a link, so no other scheme is accepted. */
function readWebsite(text: string): string {
  const url = URL.parse(text);
  const fault = !url || !['http:', 'https:'].includes(url.protocol) || url.username || url.password;
  if (!fault && url.href.length <= lengthsMax.website) return url.href;
  throw new AppError(
    'invalid_body',
    `website must be an http or https URL of at most 2,000 characters, without a password, such as https://example.org/; got ${show(text)}.`,
  );
}

/** The names of shelters, by their ids. */
export const namesOfShelters = (db: Db, ids: readonly bigint[]): Promise<ReadonlyMap<bigint, string>> =>
  selectShelterNames(db, [...new Set(ids)]);

/** What people write for a shelter: a part of its name, or its number, also as #3. What is exactly meant comes first. */
export const findSheltersCalled = (
  db: Db,
  text: string,
  limit: number,
): Promise<Array<{ readonly id: bigint; readonly name: string; readonly isMeant: boolean }>> =>
  selectSheltersCalled(db, text, parseInt64(text.replace(/^#/, '')), limit);

/** For people who choose one: by name, those that have the text in their name or town, or as their number. Empty: all. */
export const listSheltersByName = (
  db: Db,
  { text, afterId, limit }: { readonly text: string; readonly afterId: bigint | undefined; readonly limit: number },
): Promise<NamedShelter[]> => selectSheltersByName(db, { text, number: parseInt64(text.replace(/^#/, '')), afterId, limit });

/** Those who work for the store as a whole: what they write of a shelter is confirmed at once. */
export const isStoreStaff = (key: KeyRights): boolean => staffReach(key, 'manageShelters') === 'all';

/** What is confirmed once store staff have written these values. */
export const confirmedByWriting = (confirmed: ShelterWords, changes: ShelterChanges, values: ShelterValues): ShelterWords => ({
  ...confirmed,
  ...confirmedWordsOf(
    values,
    wordFields.filter((field) => changes[field] !== undefined),
  ),
});

/** What the shelter says, and nobody has confirmed. What it no longer says needs no confirmation: mail leaves that out. */
export const waitingFields = (values: ShelterWords, confirmed: ShelterWords, { mails }: { readonly mails: boolean }): WordField[] =>
  wordFields.filter((field) => values[field] !== null && values[field] !== confirmed[field] && (field !== 'email' || mails));

export const confirmedWordsOf = (values: ShelterWords, fields: readonly WordField[]): Partial<ShelterWords> =>
  Object.fromEntries(fields.map((field) => [field, values[field]]));

export const isSameWords = (one: ShelterWords, other: ShelterWords): boolean => wordFields.every((field) => one[field] === other[field]);
