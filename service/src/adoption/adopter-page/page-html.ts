import { type ApplicationStatus, allowsApplicationAction, unconfirmed } from '../../domain/application-states.ts';
import { type Html, html } from '../../platform/html.ts';
import { type AdopterAct, type AskState, asksMax } from '../applications/adopter-links.ts';
import { contactCard, filled, formatTime, layout, messageCard, type Names, pictureOf, plain } from './page-layout.ts';
import type { PageFacts } from './page-queries.ts';
import type { ConfirmTexts, Message, PageTexts, StatusText } from './page-texts.ts';

/** How an adopter withdraws and erases: by this link, by one that is mailed, by asking the shelter, or not at all. */
export type Way = 'here' | 'mail' | 'shelter' | 'nowhere';

/** A page, with the names that its texts are about. */
export interface PageParts {
  readonly texts: PageTexts;
  readonly photosUrl: string;
  /** Where adopters find animals; empty: not known. */
  readonly siteUrl: string;
  /** Where the page itself is, relative to the URL that was asked for: the store may be below a path. */
  readonly self: string;
  readonly way: Way;
}

/** The steps to a good end. */
const steps: readonly ApplicationStatus[] = ['submitted', 'reviewing', 'accepted', 'completed'];

/** An application as its adopter sees it. `asksForAddress`: they came by mail to an address that they have not confirmed. */
export function statusPage(facts: PageFacts, { texts, photosUrl, siteUrl, self, way }: PageParts, asksForAddress = false): Html {
  const { status, shelter, message, isErased } = facts;
  const [names, words] = [namesOf(facts), textOf(facts, texts)];
  const time = (at: Date) => html`<time datetime="${at.toISOString()}">${formatTime(at, shelter.timezone, texts)}</time>`;
  return layout(texts, {
    title: plain(texts.title, names),
    shelter: shelter.name,
    main: html`${pictureOf(facts, photosUrl)}
<h1>${filled(texts.title, names)}</h1>
${asksForAddress && addressCard(texts, self)}
<section class="card" aria-labelledby="status">
<p class="label ${toneOf(facts)}">${words.label}</p>
<h2 class="headline" id="status">${filled(words.headline, names)}</h2>
<p>${filled(words.text, names)}</p>
${message !== null && !isErased && html`<h3>${filled(texts.messageLabel, names)}</h3><blockquote dir="auto">${message}</blockquote>`}
${!isErased && steps.includes(status) && progress(status, texts)}
<h3>${texts.nextLabel}</h3>
<p>${filled(words.next, names)}</p>
<dl class="facts">
<dt>${texts.sentAt}</dt><dd>${time(facts.createdAt)}</dd>
${facts.updatedAt > facts.createdAt && html`<dt>${texts.statusSince}</dt><dd>${time(facts.updatedAt)}</dd>`}
</dl>
</section>
${contactCard(shelter, texts)}
${
  (mayReadAnswers(facts) || siteUrl !== '') &&
  html`<p class="acts">
${mayReadAnswers(facts) && html`<a class="button quiet" href="${self}/answers">${texts.answers.link}</a>`}
${siteUrl !== '' && html`<a class="button quiet" href="${siteUrl}" rel="noreferrer">${texts.site}</a>`}
</p>`
}
${!isErased && status === 'completed' && html`<p class="small">${filled(texts.erase.completed, names)}</p>`}
${mayErase(facts) && way === 'shelter' && html`<p class="small">${filled(texts.askShelter, names)}</p>`}
${
  mayErase(facts) &&
  (way === 'here' || way === 'mail') &&
  html`<nav class="acts" aria-label="${texts.actsLabel}">
${mayWithdraw(facts) && html`<a class="button quiet" href="${self}/withdraw">${texts.withdraw.link}</a>`}
<a class="button quiet" href="${self}/erase">${texts.erase.link}</a>
</nav>`
}`,
  });
}

const addressCard = ({ confirmAddress: { title, text, yes } }: PageTexts, self: string): Html => html`<section class="card">
<h2>${title}</h2>
<p>${text}</p>
<form class="acts" method="post" action="${self}/confirm"><button class="button">${yes}</button></form>
</section>`;

/** For who opens the link of the e-mail that asks for a confirmation. */
export function confirmPage(facts: PageFacts, { texts, photosUrl, self }: PageParts): Html {
  const names = namesOf(facts);
  const { title, text, yes, no, notYou } = texts.confirm;
  return layout(texts, {
    title: plain(title, names),
    shelter: facts.shelter.name,
    main: html`${pictureOf(facts, photosUrl)}
<h1>${filled(title, names)}</h1>
<section class="card">
<p>${filled(text, names)}</p>
<form class="acts" method="post" action="${self}/confirm"><button class="button">${yes}</button></form>
</section>
<section class="card">
<h2>${filled(notYou.title, names)}</h2>
<p>${filled(notYou.text, names)}</p>
<p class="acts"><a class="button quiet" href="${self}/erase">${no}</a></p>
</section>
${contactCard(facts.shelter, texts)}`,
  });
}

/** Why an application could not be confirmed. */
export const obstaclePage = (facts: PageFacts, obstacle: keyof PageTexts['obstacles'], { texts, self }: PageParts): Html =>
  factsMessage(facts, texts.obstacles[obstacle], texts, html`<a class="button quiet" href="${self}/erase">${texts.erase.link}</a>`);

/** Asks again. The form is sent to the URL of this page. */
export function withdrawPage(facts: PageFacts, { texts, self }: PageParts): Html {
  const more = facts.status === 'accepted' ? [texts.withdraw.reserved] : [];
  return questionPage(facts, texts.withdraw, more, texts, self);
}

export function erasePage(facts: PageFacts, { texts, self }: PageParts): Html {
  const { ofOpen, ofUnconfirmed } = texts.erase;
  const more = facts.status === unconfirmed ? [ofUnconfirmed] : mayWithdraw(facts) ? [ofOpen] : [];
  return questionPage(facts, texts.erase, more, texts, self);
}

/** A page about no application. */
export const messagePage = (message: Message, texts: PageTexts, names: Names = {}): Html =>
  layout(texts, { title: plain(message.title, names), shelter: undefined, main: messageCard(message, names) });

export const mayWithdraw = ({ status, isErased }: PageFacts): boolean =>
  !isErased && allowsApplicationAction({ status, isReopenable: false }, 'withdraw');

/** Of who opens the link that was mailed there: the address can be confirmed. */
export const asksForAddress = ({ isReached, isErased }: PageFacts): boolean => !isReached && !isErased;

/** Who has not confirmed yet may be somebody whose address another one has entered. */
export const mayReadAnswers = ({ status, hasAnswers }: PageFacts): boolean => hasAnswers && status !== unconfirmed;

/** Who has adopted an animal asks its shelter. */
export const mayErase = ({ status, isErased }: PageFacts): boolean => !isErased && status !== 'completed';

function questionPage(facts: PageFacts, question: ConfirmTexts, more: readonly string[], texts: PageTexts, self: string): Html {
  const names = namesOf(facts);
  return layout(texts, {
    title: plain(question.title, names),
    shelter: facts.shelter.name,
    main: html`<h1>${filled(question.title, names)}</h1>
<section class="card">
${[question.text, ...more].map((text) => html`<p>${filled(text, names)}</p>`)}
<form class="acts" method="post"><button class="button">${question.yes}</button><a class="button quiet" href="${self}">${question.no}</a></form>
</section>`,
  });
}

const factsMessage = (facts: PageFacts, message: Message, texts: PageTexts, acts: Html): Html =>
  layout(texts, {
    title: plain(message.title, namesOf(facts)),
    shelter: facts.shelter.name,
    main: html`${messageCard(message, namesOf(facts))}
${contactCard(facts.shelter, texts)}
<p class="acts">${acts}</p>`,
  });

/** The current step is marked, and so are those before it. */
function progress(status: ApplicationStatus, texts: PageTexts): Html {
  const current = steps.indexOf(status);
  const step = (name: string, i: number) =>
    html`<li${i <= current && html` class="done"`}${i === current && html` aria-current="step"`}>${name}</li>`;
  return html`<ol class="steps" aria-label="${texts.stepsLabel}">${texts.steps.map(step)}</ol>`;
}

function textOf({ status, closedReason, isErased }: PageFacts, texts: PageTexts): StatusText {
  if (isErased) return texts.erased;
  return status === 'closed' ? texts.closed[closedReason ?? 'unavailable'] : texts.statuses[status];
}

function toneOf(facts: PageFacts): 'good' | 'wait' | 'ended' {
  const { status, isErased } = facts;
  if (!isErased && (status === 'accepted' || status === 'completed')) return 'good';
  return mayWithdraw(facts) || (!isErased && status === unconfirmed) ? 'wait' : 'ended';
}

export const namesOf = ({ pet, shelter }: Pick<PageFacts, 'pet' | 'shelter'>): Names => ({ pet: pet.name, shelter: shelter.name });

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
<form class="acts" method="post">
${left > 0 && html`<button class="button">${lastAt ? ask.again : ask.yes}</button>`}
<a class="button quiet" href="${self}">${no}</a>
</form>
</section>`,
  });
}
