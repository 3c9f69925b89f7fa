import { type Html, html } from './html.ts';

type Field = 'name' | 'email';

export interface AdoptionForm {
  /** Generated with the form and sent as the idempotency key: the form places one order, however often it is submitted. */
  readonly attempt: string;
  readonly typed?: Readonly<Record<Field, string>> | undefined;
  /** The field that the store rejected. */
  readonly wrong?: Field | undefined;
}

const fields: Readonly<Record<Field, { label: string; help: string; attributes: Html }>> = {
  name: {
    label: 'Your name',
    help: 'Please give your name, in at most 200 characters.',
    attributes: html`autocomplete="name" maxlength="200"`,
  },
  email: {
    label: 'Your e-mail address',
    help: 'Please give an e-mail address such as ada@example.org.',
    attributes: html`type="email" autocomplete="email" maxlength="254"`,
  },
};

export const adoptionForm = (address: string, animalName: string, form: AdoptionForm): Html => html`
<form class="adoption" method="post" action="${address}">
<input type="hidden" name="attempt" value="${form.attempt}">
${inputFor('name', form)}
${inputFor('email', form)}
<p class="small">Your name and e-mail address go to the shelter, for this adoption alone. Ask the shelter to erase them whenever you like.</p>
<button class="button" type="submit">Ask to adopt ${animalName}</button>
</form>`;

function inputFor(field: Field, { typed, wrong }: AdoptionForm): Html {
  const { label, help, attributes } = fields[field];
  const isWrong = wrong === field;
  return html`<p class="field"><label for="${field}">${label}</label>
<input id="${field}" name="${field}" required ${attributes} value="${typed?.[field]}"${isWrong && html` aria-invalid="true" aria-describedby="${field}-help" autofocus`}>
${isWrong && html`<span class="wrong" id="${field}-help">${help}</span>`}</p>`;
}
