import { Type } from 'typebox';
import { requireEtag } from '../../access/admission/admission-hook.ts';
import { changeSiteSettings, getSiteSettings } from '../../adoption/shelters/site.ts';
import { siteEtag } from '../../adoption/shelters/site-json.ts';
import { type SiteSettingsChanges, SiteSettingsChangesSchema } from '../../adoption/shelters/site-schemas.ts';
import { faultOfColour, siteColours } from '../../domain/site-colours.ts';
import { html } from '../../platform/html.ts';
import { icon } from '../frame/elements.ts';
import { FormError, faultsOf } from '../screens/page-error.ts';
import type { PageRoute, Screens } from '../screens/screens.ts';
import type { ShelterParts } from './one-shelter.ts';

export const sitePath = '/shelters/site';
const { accentLight, accentDark, imprint, privacy } = SiteSettingsChangesSchema.properties;

const lightHint = 'Six digits, such as #a83f1f: dark enough to be read on a light ground.';

/** For people of the store: colours and texts of the sites of adopters. */
export function addSiteSettings(screens: Screens, { db }: Pick<ShelterParts, 'db'>): void {
  const page: PageRoute = screens.page({
    path: sitePath,
    needs: 'store:manage',
    show: async (visit) => {
      const settings = await getSiteSettings(db);
      return {
        title: "The adopters' site",
        main: html`<a class="crumb" href="/shelters">${icon('back')}Shelters</a>
<h1>The adopters' site</h1>
<p>The example site, and every site that reads them, shows these within some minutes. Left empty, a site has its own.</p>
<section class="card">${visit.form(
          save,
          { submit: 'Save', values: { ...settings }, version: siteEtag(settings) },
          (fields) => html`${fields.text('accentLight', 'Colour of links and buttons', { hint: lightHint })}
${fields.text('accentDark', 'The same in the dark', { hint: 'Such as #f4a27e: light enough to be read on a dark ground.' })}
${fields.area('imprint', 'Imprint', { hint: 'Who runs the site. An empty line begins a new paragraph.', rows: 8 })}
${fields.area('privacy', 'Privacy', { hint: 'What becomes of what adopters send.', rows: 12 })}`,
        )}</section>`,
      };
    },
  });

  const save = screens.form({
    path: sitePath,
    page,
    needs: 'store:manage',
    fields: Type.Object({ accentLight, accentDark, imprint, privacy }),
    explainConflict: async () => 'Somebody else has changed this meanwhile.',
    check: (_, values) => faultsOf(...siteColours.map((name) => () => requireReadable(name, values[name]))),
    act: async ({ visit: { caller }, joined, values, version }) => {
      const expect = (now: Parameters<typeof siteEtag>[0]) => requireEtag(version, siteEtag(now), 'The settings of the site');
      await changeSiteSettings(joined, values as SiteSettingsChanges, { key: caller, by: caller, expect });
      return { to: sitePath, done: 'It is saved. Sites show it within some minutes.' };
    },
  });
}

function requireReadable(name: (typeof siteColours)[number], colour: string | null | undefined): void {
  const fault = colour ? faultOfColour(name, colour) : undefined;
  if (fault !== undefined) throw new FormError(fault.replace(/^\w+ has/, 'It has'), name);
}
