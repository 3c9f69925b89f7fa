import { allowsApplicationAction } from '../../domain/application-states.ts';
import { scopesThat } from '../../domain/scopes.ts';
import { type Html, html } from '../../platform/html.ts';
import { type ListedApplication, listMoments } from '../../store/applications/staff-applications.ts';
import { icon } from '../frame/elements.ts';
import type { PageRoute, Screens } from '../screens/screens.ts';
import type { Visit } from '../screens/visit.ts';
import { type AdoptionParts, getListedApplication, readSituation } from './adoption-parts.ts';
import { adopterName, applicationDeed, applicationLabel, name } from './adoption-words.ts';
import { addAcceptForm, addActForm, declineFields } from './application-acts.ts';
import { unavailable } from './conflicts.ts';
import { mailPreview } from './mail-preview.ts';
import { bondedNote, othersNote } from './situation-notes.ts';

const manages = scopesThat('manageOrders');

/** What tells the adopter something is read once more before it is sent. */
export function addDecisions(screens: Screens, parts: AdoptionParts): void {
  const acceptPage: PageRoute = screens.page({
    path: '/applications/:applicationId/accept',
    needs: manages,
    show: async (visit) => {
      const application = await getListedApplication(parts, visit);
      const { id, pet, petId } = application;
      const situation = await readSituation(parts, visit, petId);
      const obstacle = unavailable(pet, situation);
      const isPossible = allowsApplicationAction(application, 'accept') && application.adopter !== null;
      return {
        title: `Accept the application for ${pet}`,
        main: html`<a class="crumb" href="/applications/${id}">${icon('back')}Back to the application</a>
<h1>Promise ${name(pet)} to ${adopterName(application)}?</h1>
${
  isPossible && !obstacle
    ? html`<section class="card"><p>${name(pet)} is reserved for ${adopterName(application)}. ${othersNote(pet, situation, parts.mails)}</p>
${bondedNote(pet, situation)}
${visit.form(accept, { submit: 'Accept', beside: html`<a class="button quiet" href="/applications/${id}">Not yet</a>` })}</section>
${await mailPreview(parts, application, { kind: 'accepted' })}`
    : await closedCard(visit, application, isPossible ? obstacle : undefined)
}`,
      };
    },
  });
  const accept = addAcceptForm(screens, parts, acceptPage);

  const declinePage: PageRoute = screens.page({
    path: '/applications/:applicationId/decline',
    needs: manages,
    show: async (visit) => {
      const application = await getListedApplication(parts, visit);
      const { id, pet } = application;
      const typed = visit.rejected?.values.get('message')?.trim();
      const isPossible = allowsApplicationAction(application, 'decline') && application.adopter !== null;
      const see =
        application.isMailed &&
        parts.mails &&
        html`<button class="button quiet" formaction="/applications/${id}/decline/preview">Show it in the mail</button>`;
      return {
        title: `Decline the application for ${pet}`,
        main: html`<a class="crumb" href="/applications/${id}">${icon('back')}Back to the application</a>
<h1>Decline ${adopterName(application)} for ${name(pet)}?</h1>
${
  isPossible
    ? html`<div class="columns"><section class="card">${visit.form(
        decline,
        { submit: 'Decline', ...(see && { beside: see }) },
        (fields) =>
          html`${fields.area('message', 'A few words to the adopter', { rows: 6, hint: 'Why, in plain and kind words. They can read it on their page, too.' })}`,
      )}</section>
${await mailPreview(parts, application, { kind: 'declined', message: typed })}</div>`
    : html`${await closedCard(visit, application, undefined)}
${typed && html`<section class="card"><h2>What you wrote</h2><p class="soft">It was not sent. Copy it if you need it.</p><p class="story" dir="auto">${typed}</p></section>`}`
}`,
      };
    },
  });
  const decline = addActForm(screens, parts, 'decline', { page: declinePage, fields: declineFields });
  screens.preview(decline, '/applications/:applicationId/decline/preview');

  /** Why there is nothing to decide. */
  async function closedCard(visit: Visit, application: ListedApplication, obstacle: Html | undefined): Promise<Html> {
    const [last] = await listMoments(parts.db, application.id, 1);
    return html`<section class="card"><p>${applicationLabel(application.status)}</p>
<p>${obstacle ?? (last && html`${applicationDeed(last, visit.person, application)}, ${visit.times.at(last.at)}.`)}</p>
<p class="acts"><a class="button quiet" href="/applications/${application.id}">See the application</a></p></section>`;
  }
}
