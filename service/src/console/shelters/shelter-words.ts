import { Type } from 'typebox';
import { requireEtag } from '../../access/admission/admission-hook.ts';
import { shelterEtag } from '../../adoption/shelters/shelter-json.ts';
import { confirmShelter, listWaitingShelters, type WaitingShelter } from '../../adoption/shelters/shelters.ts';
import type { WordField } from '../../domain/shelters.ts';
import type { Transactor } from '../../platform/db/handles.ts';
import { parseInt64 } from '../../platform/db/int64.ts';
import { type Html, html } from '../../platform/html.ts';
import { emptyState, icon, pageLinks, table } from '../frame/elements.ts';
import type { PageRoute, Screens } from '../screens/screens.ts';
import type { Visit } from '../screens/visit.ts';

interface Parts {
  readonly db: Transactor;
  readonly mails: boolean;
}

const pageSize = 20;
export const shelterWordsPath = '/shelters/confirm';

export const wordLabels: Readonly<Record<WordField, string>> = {
  name: 'Name',
  email: 'E-mail address',
  phone: 'Telephone',
  website: 'Website',
  address: 'Address',
  town: 'Town',
  postcode: 'Postcode',
  mailReceived: 'Mail: an application has come in',
  mailAccepted: 'Mail: an application is accepted',
};

/** For people of the store: what shelters say of themselves, and mail and searches for places don't have yet. */
export function addShelterWords(screens: Screens, { db, mails }: Parts): void {
  const page: PageRoute = screens.page({
    path: shelterWordsPath,
    needs: 'store:manage',
    show: async (visit) => {
      const afterId = parseInt64(visit.query.get('cursor') ?? '') ?? 0n;
      const found = await listWaitingShelters(db, { afterId, limit: pageSize + 1, mails });
      const shown = found.slice(0, pageSize);
      return {
        title: 'What shelters have changed',
        main: html`<a class="crumb" href="/">${icon('back')}Today</a>
<h1>What shelters have changed</h1>
<p>Their pages show it already. Mail to adopters, and searches for places, have what you have confirmed last.</p>
${shown.length === 0 && emptyState('mail', 'Nothing waits', 'When a shelter changes its name, contact details or town, you find it here.')}
${shown.map((one) => card(visit, one))}
${pageLinks(shelterWordsPath, visit.query, found.length > pageSize ? String(shown.at(-1)?.shelter.id) : undefined)}`,
      };
    },
  });

  function card(visit: Visit, { shelter, confirmed, waiting }: WaitingShelter) {
    return html`<section class="card"><h2><bdi>${shelter.name}</bdi></h2>
${table(`Changes of ${shelter.name}`, waiting, [
  { name: 'What', cell: (field) => wordLabels[field] },
  { name: 'Before', cell: (field) => html`<bdi>${confirmed[field] ?? 'nothing'}</bdi>` },
  { name: 'Now', cell: (field) => html`<bdi>${shelter[field] ?? ''}</bdi>` },
])}
${waiting.includes('email') && addressNote(waiting.length > 1)}
${visit.form(confirm, { submit: 'Confirm', values: { id: Number(shelter.id) }, version: shelterEtag(shelter) }, (fields) => fields.hidden('id'))}</section>`;
  }

  const addressNote = (isOneOfSeveral: boolean): Html =>
    html`<p class="soft">The e-mail address counts once somebody there has followed a link that is mailed to it.
Confirm mails that link${isOneOfSeveral && ' too'}.</p>`;

  const confirm = screens.form({
    path: shelterWordsPath,
    page,
    needs: 'store:manage',
    fields: Type.Object({ id: Type.Integer({ minimum: 1 }) }),
    explainConflict: async () => 'The shelter has changed something meanwhile. Look at it again.',
    act: async ({ visit, joined, values, version }) => {
      const { shelter, confirmed, asksByMail } = await confirmShelter(joined, BigInt(values.id), {
        key: visit.caller,
        by: visit.caller,
        mails,
        expect: (now) => requireEtag(version, shelterEtag(now), now.name),
      });
      const mailed = asksByMail ? ` A link is mailed to ${shelter.email}.` : '';
      return {
        to: shelterWordsPath,
        done: `${confirmed.length > 0 ? `${shelter.name} is confirmed.` : `Nothing else of ${shelter.name} waits.`}${mailed}`,
      };
    },
  });
}
