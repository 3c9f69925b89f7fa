import { type Html, html } from '../../platform/html.ts';
import type { Situation } from './adoption-parts.ts';
import { name, plural } from './adoption-words.ts';

/** An order and an application are for one animal, so staff have to see the others. */
export const bondedNote = (pet: string, { bonded }: Situation): Html | false =>
  bonded.length > 0 &&
  html`<p class="note warn">${name(pet)} must be adopted together with ${bonded.map(
    ({ id, name: other }, i) => html`${i > 0 && ', '}<a href="/animals/${id}">${name(other)}</a>`,
  )}, by the same adopter.</p>`;

/** What becomes of the others when one of the open applications is accepted. */
export function othersNote(pet: string, { open }: Situation, mails: boolean): Html {
  const others = open - 1;
  if (others <= 0) return html`Nobody else has applied.`;
  const stay = plural(others, 'other application stays', 'other applications stay');
  return html`The ${stay} open until you decline, or until ${name(pet)} is handed over: then ${others === 1 ? 'it is' : 'they are'} closed${mails && ` and ${others === 1 ? 'the adopter is' : 'the adopters are'} told by e-mail`}.`;
}
