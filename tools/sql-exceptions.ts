// What the check of SQL statements can't see, and why. Each is named by the statement, or by the function that it is in.

const byCaller = 'its caller writes a part of it';
const ofSeveral = 'it is several commands, which PostgreSQL does not describe';
const byWords = 'its conditions depend on the words of a search';
const sets = 'the statement sets it';

/** Statements that are not checked. */
export const unchecked: Readonly<Record<string, string>> = {
  '#apply': 'it sets a timeout',
  '#cancelAutovacuum': 'it names a table of a migration',
  '#dropUnfinished': 'it names an index that it has found',
  '#send': 'it is a migration',
  '#skipLostIds': ofSeveral,
  '#within': byCaller,
  beginWith: byCaller,
  countFacets: byWords,
  describeDatabase: ofSeveral,
  erase: byCaller,
  examinePostgres: ofSeveral,
  findEnd: byCaller,
  findNamed: byWords,
  lock: byCaller,
  lockToErase: byCaller,
  optionsOf: ofSeveral,
  probe: byWords,
  query: byCaller,
  queryTexts: byCaller,
  readFeed: byCaller,
  readOutbox: byCaller,
  rowsOf: byCaller,
  run: 'it explains a statement of its caller',
  select: byWords,
  selectActs: 'its pages are put together from filters',
  selectApplications: 'it has a part for each status that the caller may see, and at least one',
  selectBehindSequences: 'it names the sequences that it has found',
  selectSlowest: 'it names the schema of an extension',
  selectWhere: byCaller,
  takeOverEarlierStore: ofSeveral,
  tryWrites: 'it is each text of a list',
};

/** Columns that may be null in their table, and are not in what the statement returns. */
export const neverNull: Readonly<Record<string, string>> = {
  'applications-of-act.from': 'an act changes applications that there are',
  'claim-mail.number': sets,
  'claim-photo.number': sets,
  'claim-photo-scan.startedAt': sets,
  'disable-webhooks.reason': sets,
  'disableWebhooksOfExpiredKeys.reason': sets,
  'findPetWithSameExternalId.externalId': 'it equals another',
  'hold-of-pet.reason': 'pets_hold_is_whole',
  'mailed-application.adopterName': 'it is erased with the address',
  'orders-of-act.id': 'a condition',
  'pet-has-left.recordedAt': sets,
  'pet-has-left.undoableUntil': sets,
  'replaceKey.expiresAt': sets,
  'selectEndingHolds.reason': 'pets_hold_is_whole',
  'selectFailedPhotos.failure': 'photos_failed_have_a_code',
  'selectUndoablePets.recordedAt': 'an outcome that can be undone sets it',
  'selectUntold.since': 'it is compared with a time',
  'similar-towns.town': 'it equals another',
  'taker-of-external-id.externalId': 'it equals another',
};
