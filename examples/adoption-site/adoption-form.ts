import { contactField } from './contact-fields.ts';
import { type Html, html } from './html.ts';

type Field = 'name' | 'email';

export interface AdoptionForm {
  /** Generated with the form and sent as the idempotency key: the form places one order, however often it is submitted. */
  readonly attempt: string;
  readonly typed?: Readonly<Record<Field, string>> | undefined;
  /** The field that the store rejected. */
  readonly wrong?: Field | undefined;
}

export const adoptionForm = (address: string, animalName: string, { attempt, typed, wrong }: AdoptionForm): Html => html`
<form class="adoption" method="post" action="${address}">
<input type="hidden" name="attempt" value="${attempt}">
${contactField('name', typed?.name, wrong === 'name')}
${contactField('email', typed?.email, wrong === 'email')}
<p class="small">Your name and e-mail address go to the shelter, for this adoption alone. Ask the shelter to erase them whenever you like.</p>
<button class="button" type="submit">Ask to adopt ${animalName}</button>
</form>`;
