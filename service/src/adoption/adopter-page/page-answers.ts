import { type Html, html } from '../../platform/html.ts';
import type { Answer } from '../questions/question-schemas.ts';
import { namesOf, type PageParts } from './page-html.ts';
import { filled, layout, plain } from './page-layout.ts';
import type { PageFacts } from './page-queries.ts';
import type { PageTexts } from './page-texts.ts';

/** Asks for the e-mail address: the link may be in other hands, and answers are the adopter's data. The form is sent to the URL of this page. */
export function askAnswersPage(facts: PageFacts, { texts, self }: PageParts, isWrong = false): Html {
  const names = namesOf(facts);
  const { title, why, label, wrong, yes, no } = texts.answers;
  const described = isWrong && html` aria-invalid="true" aria-describedby="wrong"`;
  return layout(texts, {
    title: plain(title, names),
    shelter: facts.shelter.name,
    main: html`<h1>${filled(title, names)}</h1>
<section class="card">
<p>${why}</p>
<form method="post">
<p><label for="email">${label}</label></p>
${isWrong && html`<p id="wrong"><strong>${wrong}</strong></p>`}
<p><input id="email" name="email" type="email" autocomplete="email" maxlength="254" required${described}></p>
<p class="acts"><button class="button">${yes}</button><a class="button quiet" href="${self}">${no}</a></p>
</form>
</section>`,
  });
}

/** What was sent, with the questions as they were then. */
export function answersPage(facts: PageFacts, answers: readonly Answer[], { texts, self }: PageParts): Html {
  const names = namesOf(facts);
  const { title, no } = texts.answers;
  return layout(texts, {
    title: plain(title, names),
    shelter: facts.shelter.name,
    main: html`<h1>${filled(title, names)}</h1>
<section class="card">
<dl class="answers">${answers.map((answer) => html`<dt dir="auto">${answer.text}</dt><dd dir="auto">${answerText(answer, texts)}</dd>`)}</dl>
<p class="acts"><a class="button quiet" href="${self}">${no}</a></p>
</section>`,
  });
}

function answerText({ answer }: Answer, { answers: { words } }: PageTexts): string {
  if (typeof answer === 'boolean') return answer ? words.yes : words.no;
  return [answer].flat().join(', ');
}
