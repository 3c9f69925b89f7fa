import type { KeyRights } from '../../domain/key-rights.ts';
import { requireShelter } from '../../partners/admission/access.ts';
import { type AuditAuthor, type AuditedValues, changedValues, recordAudit } from '../../partners/audit/audit.ts';
import type { Db, Transaction } from '../../platform/db/handles.ts';
import { AppError, type ErrorCode, show } from '../../platform/errors.ts';
import type { Catalogue } from '../list-cache/catalogue.ts';
import { shelterNotFound } from '../questions/questions.ts';
import { findShelter, insertShelter, lockShelter, updateShelter } from './shelter-queries.ts';
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
  change: ['shelter_not_found'],
  movePet: ['pet_not_found', 'shelter_not_found', 'external_id_taken'],
} as const satisfies Record<string, readonly ErrorCode[]>;

export async function getShelter(db: Db, id: bigint): Promise<Shelter> {
  const shelter = await findShelter(db, id);
  if (!shelter) throw shelterNotFound(String(id));
  return shelter;
}

export async function createShelter(tx: Transaction, by: AuditAuthor, input: NewShelter): Promise<Shelter> {
  const shelter = await insertShelter(tx, checked(merge(empty, input)));
  const after = auditedValues(shelter);
  await recordAudit(tx, by, 'shelter.created', { targetId: shelter.id, shelterId: shelter.id, after });
  return shelter;
}

/** A merge patch: null removes a value. */
export async function changeShelter(
  catalogue: Catalogue,
  id: bigint,
  changes: ShelterChanges,
  { key, by, expect }: { key: KeyRights; by: AuditAuthor; expect: Expectation },
): Promise<Shelter> {
  return catalogue.transaction(async (tx) => {
    const locked = await lockShelter(tx, id);
    if (!locked) throw shelterNotFound(String(id));
    const { shelter, changedIn } = locked;
    requireShelter(key, 'manageShelters', id);
    expect(shelter);
    const values = checked(merge(shelter, changes));
    if (isSame(values, shelter)) {
      if (changedIn !== null) tx.acknowledge(changedIn);
      return shelter;
    }
    const changed = await updateShelter(tx, { id, ...values }, shelter);
    const differences = changedValues(auditedValues(shelter), auditedValues(changed));
    if (differences) await recordAudit(tx, by, 'shelter.changed', { targetId: id, shelterId: id, ...differences });
    return changed;
  });
}

/** What the audit says of a shelter. Long texts are public and are not repeated there. */
const auditedValues = (shelter: ShelterValues): AuditedValues =>
  Object.fromEntries(shelterFields.map((field) => [field, brief(shelter[field])]));

const brief = (value: ShelterValues[keyof ShelterValues]) =>
  typeof value === 'string' && value.length > briefMax ? `${value.slice(0, briefMax)}…` : value;

const briefMax = 200;

/** Without a name, which is always given. */
const empty = { ...Object.fromEntries(shelterFields.map((field) => [field, null])), ...shelterDefaults } as unknown as ShelterValues;

/** Field by field, since the body may contain other fields, such as an id. */
const merge = (values: ShelterValues, changes: ShelterChanges) =>
  Object.fromEntries(
    shelterFields.map((field) => [field, changes[field] === undefined ? values[field] : changes[field]]),
  ) as unknown as ShelterValues;

const isSame = (one: ShelterValues, other: ShelterValues) => shelterFields.every((field) => one[field] === other[field]);

/** Checks what a schema can't. Returns the values as they are stored. */
function checked(values: ShelterValues): ShelterValues {
  const { latitude, longitude, timezone, website } = values;
  if ((latitude === null) !== (longitude === null)) {
    const [missing, present] = latitude === null ? ['latitude', 'longitude'] : ['longitude', 'latitude'];
    throw new AppError('invalid_body', `${missing} is missing: ${present} needs it. Give both, or remove both with null.`);
  }
  if (timezone !== null && !isTimezone(timezone)) {
    throw new AppError('invalid_body', `timezone must be a name of the IANA database, such as Europe/Vienna; got ${show(timezone)}.`);
  }
  return { ...values, website: website === null ? null : readWebsite(website) };
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
