import { type AuditAuthor, recordAudit } from '../../access/audit/audit.ts';
import type { Acting } from '../../domain/actor.ts';
import type { Transactor } from '../../platform/db/handles.ts';
import { normalizeEmail } from '../../platform/email-addresses.ts';
import { selectOtherSpellings } from './applicant-queries.ts';
import { adopterKinds } from './application-mail.ts';
import { selectDisclosedApplications, selectDisclosedOrders } from './disclosure-queries.ts';

const rowsMax = 1_000;

/** What is stored about an adopter, for the adopter. */
export interface Disclosure {
  readonly applications: number;
  readonly orders: number;
  /** A JSON document. */
  readonly json: string;
}

/**
 * All that is stored about who has this e-mail address, in what is of a shelter; null: in the whole store. What nobody has confirmed is not of
 * a shelter yet. The audit says that somebody was disclosed, by the ids of what it was about.
 */
export async function discloseAdopter(
  db: Transactor,
  by: AuditAuthor & Acting,
  { email, shelterId, now }: { readonly email: string; readonly shelterId: bigint | null; readonly now: Date },
): Promise<Disclosure> {
  const whose = { email: email.trim(), address: normalizeEmail(email.trim()), shelterId };
  return db.transaction(async (tx) => {
    const withUnconfirmed = shelterId === null;
    const applications = await selectDisclosedApplications(tx, whose, { mailKinds: adopterKinds, withUnconfirmed, limit: rowsMax });
    const orders = await selectDisclosedOrders(tx, whose, rowsMax);
    const others = await selectOtherSpellings(tx, whose, rowsMax);
    const after = { applications: applications.ids.map(String), orders: orders.ids.map(String) };
    await recordAudit(tx, by, 'adopter.disclosed', { shelterId, after });
    const isComplete = applications.ids.length < rowsMax && orders.ids.length < rowsMax;
    const about = { email: whose.email, shelterId: shelterId === null ? null : Number(shelterId), at: now.toISOString(), isComplete };
    const parts = [
      ...Object.entries(about).map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`),
      `"otherSpellings": ${JSON.stringify(others)}`,
      `"applications": ${applications.json}`,
      `"orders": ${orders.json}`,
    ];
    return { applications: applications.ids.length, orders: orders.ids.length, json: `{\n  ${parts.join(',\n  ')}\n}\n` };
  }, by);
}
