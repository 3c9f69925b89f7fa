import type { FastifyReply } from 'fastify';
import { html } from '../../platform/html.ts';
import type { UsedUp } from '../sessions/person-budget.ts';
import { PageError } from './page-error.ts';
import type { Page } from './screens.ts';
import { identityOf } from './visit.ts';

/** The form that ends all sessions of a person. */
export const endSessionsPath = '/me/sessions/end';

/** Of who has no requests left: made without a query. `sent`: what was typed into a form, and where it goes. */
export function pauseOf(
  usedUp: UsedUp,
  { formToken, sent }: { readonly formToken: string; readonly sent: { readonly path: string; readonly body: URLSearchParams } | undefined },
): Page {
  return {
    title: 'Too many requests',
    main: html`<h1>Too many requests</h1>
<p>${wordsOf(usedUp)}</p>
${
  sent &&
  html`<p>Nothing was changed. What you have typed is kept in this page.</p>
<form method="post" action="${sent.path}">${[...sent.body].map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}<button class="button wide">Send it again</button></form>`
}
<p class="soft small">Was it not you? Somebody else may be signed in with your name.</p>
<form method="post" action="${endSessionsPath}">${identityOf(formToken)}<button class="button quiet wide">End all my sessions</button></form>`,
  };
}

/** The same in place of what can't be shown again, such as an upload. */
export function usedUpError(usedUp: UsedUp, reply: FastifyReply): PageError {
  noteWait(usedUp, reply);
  return new PageError(429, 'Too many requests', wordsOf(usedUp));
}

export function noteWait({ waitMs }: UsedUp, reply: FastifyReply): FastifyReply {
  return reply.status(429).header('retry-after', Math.ceil(waitMs / 1_000));
}

/** What was used up, and when it goes on. */
export function wordsOf({ what, limit, window, waitMs }: UsedUp): string {
  const used = what === 'acts' ? `You have sent ${number(limit)} forms and photos` : `You have opened ${number(limit)} pages`;
  const since = window === 'minute' ? 'within this minute' : 'today';
  return `${used} ${since}, as many as a person can. Go on in ${lengthOf(Math.ceil(waitMs / 1_000))}.`;
}

function lengthOf(seconds: number): string {
  if (seconds < 120) return seconds === 1 ? '1 second' : `${seconds} seconds`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 120 ? `${minutes} minutes` : `${Math.ceil(minutes / 60)} hours`;
}

const number = (value: number) => value.toLocaleString('en');
