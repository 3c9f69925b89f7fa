import { Type } from 'typebox';
import {
  type ApplicationCallerAction,
  applicationActionsFrom,
  isOpenApplication,
  scopesForApplication,
} from '../../domain/application-states.ts';
import { type Html, html } from '../../platform/html.ts';
import { DeclineSchema } from '../../store/applications/application-schemas.ts';
import { actOnApplication } from '../../store/applications/applications.ts';
import type { ListedApplication } from '../../store/applications/staff-applications.ts';
import type { FormRoute, PageRoute, Screens, Submission } from '../screens/screens.ts';
import type { Visit } from '../screens/visit.ts';
import { type AdoptionParts, getListedApplication, type Situation } from './adoption-parts.ts';
import { adopterName, name } from './adoption-words.ts';
import { explainApplication, unavailable } from './conflicts.ts';

const nothing = Type.Object({});
export const declineFields = Type.Object({ message: DeclineSchema.properties.message });

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

type Fields = typeof nothing | typeof declineFields;

/** The form of an act: its rules are those of the operation. */
export function addActForm<Schema extends Fields>(
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
      await actOnApplication(tx, application.id, action, visit.caller, { message: values.message, orderExpirySeconds });
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
export const addAcceptForm = (screens: Screens, parts: AdoptionParts, page: PageRoute): FormRoute<typeof nothing> =>
  addActForm(screens, parts, 'accept', { page, fields: nothing });

/** What can be done next with an application, as verbs. What can't be undone, or tells the adopter, asks once more. */
export function actsOf(visit: Visit, application: ListedApplication, situation: Situation, forms: InlineForms): Html {
  const { id, status, orderId, petId, pet, adopter } = application;
  // An erased one has nobody to choose.
  const may = (action: ApplicationCallerAction) =>
    adopter !== null && applicationActionsFrom(application).includes(action) && visit.may(scopesForApplication(action));
  const params = { applicationId: id };
  const obstacle = unavailable(pet, situation);
  const isOver = !situation.animal || situation.animal.pet.status === 'sold';
  const who = html`<span class="hidden"> the application of ${adopterName(application)}</span>`;
  return html`<div class="acts">
${status === 'accepted' && orderId !== null && html`<a class="button" href="/orders/${orderId}/hand-over">Hand over<span class="hidden"> ${pet}</span></a>`}
${may('accept') && !obstacle && html`<a class="button" href="/applications/${id}/accept">Accept${who}</a>`}
${may('decline') && html`<a class="button quiet" href="/applications/${id}/decline">Decline${who}</a>`}
${may('review') && visit.form(forms.review, { submit: html`Review${who}`, params, tone: 'quiet', isInline: true })}
${may('reopen') && !isOver && visit.form(forms.reopen, { submit: html`Reopen${who}`, params, tone: 'quiet', isInline: true })}
</div>
${isOpenApplication(status) && status !== 'accepted' && obstacle && html`<p class="soft">${obstacle} Nobody else can be accepted meanwhile.</p>`}
${status === 'declined' && isOver && html`<p class="soft">${obstacle}</p>`}
${!isOpenApplication(status) && !isOver && situation.open > 0 && html`<p><a href="/applications/pets/${petId}">See who else has applied for ${name(pet)}</a></p>`}`;
}
