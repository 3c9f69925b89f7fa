import { Type } from 'typebox';
import { scopesThat } from '../../domain/scopes.ts';
import { type Html, html } from '../../platform/html.ts';
import { endAdopterLinks, isReached } from '../../store/applications/ended-links.ts';
import type { ListedApplication } from '../../store/applications/staff-applications.ts';
import { ifUnrecorded } from '../screens/page-error.ts';
import type { FormRoute, PageRoute, Screens } from '../screens/screens.ts';
import type { Visit } from '../screens/visit.ts';
import { type AdoptionParts, getListedApplication } from './adoption-parts.ts';

const fields = Type.Object({ mails: Type.Optional(Type.Boolean()) });
type LinkForm = FormRoute<typeof fields>;

/** Ends the adopter's link, on the page of the application. */
export const addLinkForm = (screens: Screens, parts: AdoptionParts, page: PageRoute): LinkForm =>
  screens.form({
    path: '/applications/:applicationId/end-link',
    page,
    needs: scopesThat('manageOrders'),
    ends: true,
    fields,
    act: async ({ visit, tx, values }) => {
      const { id } = await getListedApplication({ db: tx }, visit);
      const mails = parts.mails && values.mails === true;
      const { isMailed, isJournaled } = await endAdopterLinks(tx, id, visit.caller, { journal: parts.journal, by: visit.caller, mails });
      const next = isMailed ? ' The adopter gets the new one by e-mail.' : '';
      return { to: `/applications/${id}`, done: `The links to the adopter’s page have ended.${next}${ifUnrecorded(isJournaled)}` };
    },
  });

export function linkDetails(visit: Visit, form: LinkForm, application: ListedApplication, { mails }: AdoptionParts): Html {
  const mayMail = mails && isReached(application);
  return html`<details><summary>The adopter’s link is in the wrong hands</summary>
<p>Anyone who has the link sees where this application stands${!mails && ', can withdraw it and have the adopter’s data erased'}. End it if it was posted or passed on. Links in earlier e-mails end too.</p>
${!mayMail && html`<p>The site on which they applied has the new link. Tell the adopter to look there.</p>`}
${visit.form(form, { submit: 'End the link', tone: 'danger', values: { mails: 'true' } }, (fill) =>
  mayMail ? fill.check('mails', 'Mail the adopter a new one', { hint: 'Not if somebody else reads their e-mail.' }) : html``,
)}</details>`;
}
