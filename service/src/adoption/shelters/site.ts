import { isDeepStrictEqual } from 'node:util';
import { insufficientScope } from '../../access/admission/access.ts';
import { type AuditAuthor, changedValues, recordAudit } from '../../access/audit/audit.ts';
import type { Acting, KeyRights } from '../../domain/actor.ts';
import { faultOfColour, siteColours } from '../../domain/site-colours.ts';
import type { Db, Transactor } from '../../platform/db/handles.ts';
import { AppError, type ErrorCode } from '../../platform/errors.ts';
import { isStoreStaff } from './shelters.ts';
import { findSiteSettings, lockSiteSettings, updateSiteSettings } from './site-queries.ts';
import { type SiteSettings, type SiteSettingsChanges, siteFields } from './site-schemas.ts';

/** The errors of the operations, for the documents. */
export const siteErrors = { change: ['recorded_change_limit'] } as const satisfies Record<string, readonly ErrorCode[]>;

export const getSiteSettings = (db: Db): Promise<SiteSettings> => findSiteSettings(db);

/** A merge patch, by staff of the store: null removes a value. */
export async function changeSiteSettings(
  db: Pick<Transactor, 'transaction'>,
  changes: SiteSettingsChanges,
  { key, by, expect }: { key: KeyRights & Acting; by: AuditAuthor; expect: (settings: SiteSettings) => void },
): Promise<SiteSettings> {
  return db.transaction(async (tx) => {
    const before = await lockSiteSettings(tx);
    if (!isStoreStaff(key)) throw insufficientScope('Only the staff of the store change what its sites look like.', ['store:manage']);
    expect(before);
    const after = Object.fromEntries(
      siteFields.map((field) => [field, changes[field] === undefined ? before[field] : changes[field]]),
    ) as unknown as SiteSettings;
    rejectUnreadable(after);
    if (isDeepStrictEqual(before, after)) return before;
    await updateSiteSettings(tx, after);
    const differences = changedValues(brief(before), brief(after));
    await recordAudit(tx, by, 'site.changed', { shelterId: null, ...differences });
    return after;
  }, key);
}

function rejectUnreadable(settings: SiteSettings): void {
  const faults = siteColours.flatMap((name) => {
    const colour = settings[name];
    return (colour === null ? undefined : faultOfColour(name, colour)) ?? [];
  });
  if (faults.length > 0) throw new AppError('invalid_body', faults.join(' '));
}

/** Long texts are public and are not repeated in the audit. */
const brief = (settings: SiteSettings) =>
  Object.fromEntries(siteFields.map((field) => [field, settings[field]?.slice(0, briefMax) ?? null]));

const briefMax = 200;
