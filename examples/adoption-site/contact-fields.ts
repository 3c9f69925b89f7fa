import { type Html, html } from './html.ts';

export type ContactField = 'name' | 'email' | 'phone';

const fields: Readonly<Record<ContactField, { label: string; help: string; attributes: Html }>> = {
  name: {
    label: 'Your name',
    help: 'Please give your name, in at most 200 characters.',
    attributes: html`required autocomplete="name" maxlength="200"`,
  },
  email: {
    label: 'Your e-mail address',
    help: 'Please give an e-mail address such as ada@example.org.',
    attributes: html`required type="email" autocomplete="email" maxlength="254"`,
  },
  phone: {
    label: 'Your telephone number',
    help: 'Please give a telephone number of at most 40 characters, or leave this empty.',
    attributes: html`type="tel" autocomplete="tel" maxlength="40"`,
  },
};

/** What to do about a value that the store rejected. */
export const helpWith = (field: ContactField): string => fields[field].help;

export function contactField(field: ContactField, value: string | undefined, isWrong: boolean): Html {
  const { label, help, attributes } = fields[field];
  return html`<p class="field"><label for="${field}">${label}${field === 'phone' && html` <span class="optional">(optional)</span>`}</label>
<input id="${field}" name="${field}" ${attributes} value="${value}"${isWrong && html` aria-invalid="true" aria-describedby="${field}-help"`}>
${isWrong && html`<span class="wrong" id="${field}-help">${help}</span>`}</p>`;
}
