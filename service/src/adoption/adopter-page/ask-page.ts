import { type Html, html } from '../../platform/html.ts';
import { type AdopterAct, type AskState, asksMax } from '../applications/adopter-links.ts';
import { mayWithdraw, namesOf, type PageParts } from './page-html.ts';
import { layout } from './page-parts.ts';
import type { PageFacts } from './page-queries.ts';
import { filled, formatTime, plain } from './page-words.ts';

/** Says what happens next, and has a link mailed by its button. The form is sent to the URL of this page, which then says what was sent. */
export function askPage(facts: PageFacts, act: AdopterAct, { lastAt, left, resetAt }: AskState, { texts, self }: PageParts): Html {
  const { ask } = texts;
  const { title, text, no } = texts[act];
  const { shelter, status } = facts;
  const names = { ...namesOf(facts), left, max: asksMax };
  const timed = (at: Date) => ({ ...names, time: formatTime(at, shelter.timezone, texts) });
  const [reserved, open] = [act === 'withdraw' && status === 'accepted', act === 'erase' && mayWithdraw(facts)];
  return layout(texts, {
    title: plain(title, names),
    shelter: shelter.name,
    main: html`<h1>${filled(title, names)}</h1>
${lastAt !== null && html`<section class="card"><h2>${ask.sent.title}</h2><p>${filled(ask.sent.text, timed(lastAt))}</p></section>`}
<section class="card">
<p>${filled(text, names)}${reserved && html` ${filled(texts.withdraw.reserved, names)}`}${open && html` ${filled(texts.erase.ofOpen, names)}`}</p>
<p>${ask.why}</p>
${left > 0 && lastAt === null && html`<h2>${ask.stepsLabel}</h2><ol>${ask.steps.map((step) => html`<li>${step}</li>`)}</ol>`}
<p class="small">${left > 0 ? filled(ask.left, names) : filled(ask.none, timed(resetAt))}</p>
<form class="acts" method="post">${left > 0 && html`<button class="button">${lastAt ? ask.again : ask.yes}</button>`}<a class="button quiet" href="${self}">${no}</a></form>
</section>`,
  });
}
