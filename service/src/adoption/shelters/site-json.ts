import { etagOf } from '../../platform/http/protocol/representations.ts';
import { type SiteSettings, siteFields } from './site-schemas.ts';

/** The same in a read and a write, so that it works as If-Match. */
export const siteEtag = (settings: SiteSettings): string => etagOf(JSON.stringify(siteFields.map((field) => settings[field])));
