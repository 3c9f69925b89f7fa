import type { PetListing } from '@homeward/sdk';
import type { Terms } from './catalogue.ts';
import { type ContactField, contactField, helpWith } from './contact-fields.ts';
import { type Html, html } from './html.ts';
import { layout } from './layout.ts';
import { type Outcome, outcomeBox } from './outcome.ts';
import { pictureOf } from './photo.ts';
import type { Answers } from './question-answers.ts';
import { questionElementId, questionFields } from './question-fields.ts';

export interface ApplicationForm {
  /** Generated with the form and sent as the idempotency key: the form is one application, however often it is submitted. */
  readonly attempt: string;
  readonly typed: Readonly<Record<ContactField, string>>;
  readonly answers: Answers;
  /** The fields and the questions that the store rejected, with what to do. */
  readonly wrongContacts: readonly ContactField[];
  readonly wrongAnswers: ReadonlyMap<string, string>;
}

export interface ApplyPageParts {
  readonly listing: PetListing;
  readonly terms: Terms;
  readonly form: ApplicationForm;
  readonly outcome?: Outcome | undefined;
}

export const emptyForm = (attempt: string): ApplicationForm => ({
  attempt,
  typed: { name: '', email: '', phone: '' },
  answers: new Map(),
  wrongContacts: [],
  wrongAnswers: new Map(),
});

export function applyPage({ listing, terms, form, outcome }: ApplyPageParts): Html {
  const { pet, shelter } = listing;
  const { attempt, typed, answers, wrongContacts, wrongAnswers } = form;
  const { questions } = terms;
  const hasConditions = questions.some(({ onlyIf }) => onlyIf !== undefined);
  return layout({
    title: outcome?.title ?? `Ask for ${pet.name}`,
    description: `Apply to adopt ${pet.name} from ${shelter.name}.`,
    drawn: [listing],
    scripts: hasConditions ? ['apply.js'] : [],
    main: html`
<article class="apply">
${outcome && outcomeBox(outcome, wrongList(terms, form))}
<header class="subject">${pictureOf(listing, { sizes: '6rem', loading: 'first' })}<div><h1>Ask for ${pet.name}</h1>
<p>An application to ${shelter.name}. Others may apply for ${pet.name} too, and the shelter chooses.</p></div></header>
${terms.note !== null && html`<aside class="note" aria-label="From the shelter">${terms.note.split(/\n\s*\n/).map((paragraph) => html`<p>${paragraph}</p>`)}</aside>`}
<form class="application" method="post" action="/animals/${pet.id}/apply">
<input type="hidden" name="attempt" value="${attempt}">
<p class="small">Please answer everything that is not marked as optional.</p>
<h2>About you</h2>
${contactField('name', typed.name, wrongContacts.includes('name'))}
${contactField('email', typed.email, wrongContacts.includes('email'))}
${contactField('phone', typed.phone, wrongContacts.includes('phone'))}
${questions.length > 0 && html`<h2>What ${shelter.name} would like to know</h2>${questionFields(questions, { answers, wrong: wrongAnswers })}`}
<p class="small">What you write goes to ${shelter.name}, for this adoption alone. Ask the shelter to erase it whenever you like.</p>
<p class="send"><button class="button" type="submit">Send the application</button> <a class="button quiet" href="/animals/${pet.id}">Back to ${pet.name}</a></p>
</form>
</article>`,
  });
}

/** Links to what is to be corrected: a long form has it far below. */
function wrongList({ questions }: Terms, { wrongContacts, wrongAnswers }: ApplicationForm): Html | false {
  const items = [
    ...wrongContacts.map((field) => html`<li><a href="#${field}">${helpWith(field)}</a></li>`),
    ...questions
      .filter(({ id }) => wrongAnswers.has(id))
      .map(({ id, text }) => html`<li><a href="#${questionElementId(id)}">${text}</a></li>`),
  ];
  return items.length > 0 && html`<ul>${items}</ul>`;
}
