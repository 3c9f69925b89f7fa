import type { Db, Transaction } from '../../platform/db/handles.ts';
import type { SiteSettings } from './site-schemas.ts';

const columns = 'accent_light as "accentLight", accent_dark as "accentDark", imprint, privacy';

export async function findSiteSettings(db: Db): Promise<SiteSettings> {
  const { rows } = await db.query<SiteSettings>({ name: 'site-settings', text: `select ${columns} from site_settings` });
  return rows[0] ?? { accentLight: null, accentDark: null, imprint: null, privacy: null };
}

/** The only row, until the transaction ends. */
export async function lockSiteSettings(tx: Transaction): Promise<SiteSettings> {
  const { rows } = await tx.query<SiteSettings>({
    name: 'lock-site-settings',
    text: `select ${columns} from site_settings for no key update`,
  });
  const [settings] = rows;
  if (!settings) throw new Error('the settings of the site have no row');
  return settings;
}

export async function updateSiteSettings(tx: Transaction, { accentLight, accentDark, imprint, privacy }: SiteSettings): Promise<void> {
  await tx.query({
    name: 'update-site-settings',
    text: 'update site_settings set accent_light = $1, accent_dark = $2, imprint = $3, privacy = $4, updated_at = now()',
    values: [accentLight, accentDark, imprint, privacy],
  });
}
