import { Type } from 'typebox';
import { previewMail } from '../../adoption/applications/application-mail.ts';
import { DeclineSchema } from '../../adoption/applications/application-schemas.ts';
import { actOnApplication } from '../../adoption/applications/applications.ts';
import { type ListedApplication, listApplicationMoments } from '../../adoption/applications/staff-applications.ts';
import { actUndoably } from '../../adoption/undo/undo.ts';
import {
  type ApplicationCallerAction,
  allowsApplicationAction,
  applicationActionsFrom,
  isOpenApplication,
  scopesForApplication,
} from '../../domain/application-states.ts';
import { scopesThat } from '../../domain/scopes.ts';
import type { UndoableKind } from '../../domain/undo.ts';
import { storeNameOf } from '../../platform/email-addresses.ts';
import { type Html, html, personal } from '../../platform/html.ts';
import { icon } from '../frame/elements.ts';
import type { FormRoute, PageRoute, Screens, Submission } from '../screens/screens.ts';
import type { Visit } from '../screens/visit.ts';
import {
  type AdoptionParts,
  bondedNote,
  explainApplication,
  getListedApplication,
  othersNote,
  readSituation,
  type Situation,
  whyUnavailable,
} from './adoption-parts.ts';
import { adopterName, applicationDeed, applicationLabel, name } from './adoption-words.ts';

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
      const obstacle = whyUnavailable(pet, situation);
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
  const accept = addActForm(screens, parts, 'accept', { page: acceptPage, fields: nothing });

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
    ? html`<div class="columns"><section class="card">${visit.form(decline, { submit: 'Decline', ...(see && { beside: see }) }, (fields) =>
        fields.area('message', 'A few words to the adopter', { rows: 6, hint: messageHint }),
      )}</section>
${await mailPreview(parts, application, { kind: 'declined', message: typed })}</div>`
    : html`${await closedCard(visit, application, undefined)}
${typed && unsent(typed)}`
}`,
      };
    },
  });
  const decline = addActForm(screens, parts, 'decline', { page: declinePage, fields: declineFields });
  screens.preview(decline, '/applications/:applicationId/decline/preview');

  /** Why there is nothing to decide. */
  async function closedCard(visit: Visit, application: ListedApplication, obstacle: Html | undefined): Promise<Html> {
    const [last] = await listApplicationMoments(parts.db, application.id, 1);
    return html`<section class="card"><p>${applicationLabel(application.status)}</p>
<p>${obstacle ?? (last && html`${applicationDeed(last, visit.person, application)}, ${visit.times.at(last.at)}.`)}</p>
<p class="acts"><a class="button quiet" href="/applications/${application.id}">See the application</a></p></section>`;
  }
}

const messageHint = 'Why, in plain and kind words. They can read it on their page, too.';

const unsent = (typed: string): Html => html`<section class="card"><h2>What you wrote</h2>
<p class="soft">It was not sent. Copy it if you need it.</p>
<p class="story" dir="auto">${typed}</p></section>`;

const nothing = Type.Object({});
const declineFields = Type.Object({ message: DeclineSchema.properties.message });

interface Done {
  readonly to: string;
  readonly done: string;
}

/** What follows an act, as the page says it that is shown next. */
const outcomes: Readonly<Record<ApplicationCallerAction, (application: ListedApplication) => Done>> = {
  review: ({ id }) => ({ to: `/applications/${id}`, done: 'You are reviewing this application. The adopter is not told yet.' }),
  accept: ({ id, pet }) => ({ to: `/applications/${id}`, done: `${pet} is promised to this adopter.` }),
  decline: ({ petId }) => ({ to: `/applications/pets/${petId}`, done: 'The application is declined.' }),
  reopen: ({ id }) => ({ to: `/applications/${id}`, done: 'The application is open again. You are reviewing it.' }),
  withdraw: ({ id }) => ({ to: `/applications/${id}`, done: 'The application is withdrawn.' }),
};

const undoableAs: Partial<Record<ApplicationCallerAction, UndoableKind>> = { accept: 'accepted', decline: 'declined' };

type Fields = typeof nothing | typeof declineFields;

/** The form of an act: its rules are those of the operation. */
function addActForm<Schema extends Fields>(
  screens: Screens,
  parts: AdoptionParts,
  action: ApplicationCallerAction,
  { page, fields }: { readonly page: PageRoute; readonly fields: Schema },
): FormRoute<Schema> {
  return screens.form<Schema>({
    path: `/applications/:applicationId/${action}`,
    page,
    needs: scopesForApplication(action),
    fields,
    act: async ({ visit, tx, values }: Submission<{ message?: string }>) => {
      const application = await getListedApplication({ db: tx }, visit);
      const { orderExpirySeconds } = parts.config;
      const { id, petId } = application;
      const decide = () => actOnApplication(tx, id, action, visit.caller, { message: values.message, orderExpirySeconds });
      const kind = undoableAs[action];
      await (kind ? actUndoably(tx, { kind, petId }, visit.caller, decide) : decide());
      return outcomes[action](application);
    },
    explain: explainApplication(parts),
  });
}

export interface InlineForms {
  readonly review: FormRoute<typeof nothing>;
  readonly reopen: FormRoute<typeof nothing>;
  readonly withdraw: FormRoute<typeof nothing>;
}

export const addInlineForms = (screens: Screens, parts: AdoptionParts, page: PageRoute): InlineForms => {
  const add = (action: keyof InlineForms) => addActForm(screens, parts, action, { page, fields: nothing });
  return { review: add('review'), reopen: add('reopen'), withdraw: add('withdraw') };
};

/** What can be done next with an application, as verbs. What can't be undone, or tells the adopter, asks once more. */
export function actsOf(visit: Visit, application: ListedApplication, situation: Situation, forms: InlineForms): Html {
  const { id, status, orderId, petId, pet, adopter } = application;
  // An erased one has nobody to choose.
  const may = (action: ApplicationCallerAction) =>
    adopter !== null && applicationActionsFrom(application).includes(action) && visit.may(scopesForApplication(action));
  const params = { applicationId: id };
  const obstacle = whyUnavailable(pet, situation);
  const isOver = !situation.animal || situation.animal.pet.status === 'sold';
  const who = html`<span class="hidden"> the application of ${adopterName(application)}</span>`;
  const others = html`<p><a href="/applications/pets/${petId}">See who else has applied for ${name(pet)}</a></p>`;
  return html`<div class="acts">
${status === 'accepted' && orderId !== null && html`<a class="button" href="/orders/${orderId}/hand-over">Hand over<span class="hidden"> ${pet}</span></a>`}
${may('accept') && !obstacle && html`<a class="button" href="/applications/${id}/accept">Accept${who}</a>`}
${may('decline') && html`<a class="button quiet" href="/applications/${id}/decline">Decline${who}</a>`}
${may('review') && visit.form(forms.review, { submit: html`Review${who}`, params, tone: 'quiet', isInline: true })}
${may('reopen') && !isOver && visit.form(forms.reopen, { submit: html`Reopen${who}`, params, tone: 'quiet', isInline: true })}
</div>
${isOpenApplication(status) && status !== 'accepted' && obstacle && html`<p class="soft">${obstacle} Nobody else can be accepted meanwhile.</p>`}
${status === 'declined' && isOver && html`<p class="soft">${obstacle}</p>`}
${!isOpenApplication(status) && !isOver && situation.open > 0 && others}`;
}

/** In the place of the adopter's own link, which is for nobody else. */
export const linkOfAdopter = '(a link to the page of this application, for the adopter alone)';

/** The text of the mail that a decision sends, as it would be sent now. */
async function mailPreview(
  { db, config: { language, mail: sending } }: AdoptionParts,
  application: ListedApplication,
  { kind, message }: { readonly kind: 'accepted' | 'declined'; readonly message?: string | undefined },
): Promise<Html> {
  const mail =
    sending && (await previewMail(db, application.id, { kind, message, language, url: linkOfAdopter, store: storeNameOf(sending.from) }));
  if (!mail)
    return html`<section class="card"><h2>No mail goes out</h2>
<p>Tell ${adopterName(application)} yourself.${kind === 'declined' && ' What you write stays with the application.'}</p></section>`;
  return personal(html`<section class="card"><h2>The mail that goes out</h2>
<div class="mail" role="group" aria-label="The mail"><p class="soft small">To ${mail.to.address}</p>
<p><b dir="auto">${mail.subject}</b></p>
<p class="story" dir="auto">${mail.text.trimEnd()}</p></div></section>`);
}
