import type { FastifyReply, FastifyRequest } from 'fastify';
import { requestSubject } from '../../platform/caller-addresses.ts';
import { html } from '../../platform/html.ts';
import { lingerOnClose } from '../../platform/http/protocol/connections.ts';
import { onwardPage } from '../frame/layout.ts';
import type { UsedUp } from '../sessions/person-budget.ts';
import type { Visitor } from '../sessions/visitors.ts';
import { type Frame, send } from './frame.ts';
import { fromElsewhere, notAllowed, PageError, sendScriptError, signedOut, suspended, wantsJson } from './page-error.ts';
import { mayUse, type Needs, type ShownPage } from './screens.ts';
import { identityOf } from './visit.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who is signed in; null: nobody. */
    visitor: Visitor | null;
    /** What its person has used up: what was sent is shown again, and not carried out. Null: nothing. */
    usedUp: UsedUp | null;
  }
}

/** What a route asks of who comes. */
interface Entry {
  readonly needs: Needs;
  /**
   * An act costs a request, and an act. An end, such as signing out, is charged to the address: anyone who uses up what a person has can't take
   * that from them.
   */
  readonly costs: 'request' | 'act' | 'end';
  /** A form, which its handler shows again if there is too much: its body is read for that. */
  readonly isShownAgain?: boolean;
}

/** The way to everything that only people see who are signed in. */
export class Entrance {
  readonly #frame: Frame;

  constructor(frame: Frame) {
    this.#frame = frame;
  }

  /** As a hook `onRequest`. Before the body of a request is read, it is known who sends it, whether they may, and it is charged. */
  readonly require =
    ({ needs, costs, isShownAgain = false }: Entry) =>
    async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
      const { admit, budget, consoleUrl, visitors } = this.#frame.parts;
      const isForeign = request.method === 'POST' && !isFromOwnPage(request, consoleUrl);
      if (costs === 'end') {
        // Without a session there is nothing to end: who has none takes nothing from those who have one.
        if (visitors.tokenOf(request) === undefined) return this.sendStranger(request, reply);
        if (isForeign) throw fromElsewhere();
        const seconds = await admit(requestSubject(request), 'endings');
        if (seconds > 0) throw tooMany(reply, seconds);
        request.visitor = (await visitors.find(request)) ?? null;
      } else {
        await this.identify(request);
        if (request.usedUp && isShownAgain && !isForeign && budget.mayShowAgain(visitors.tokenOf(request) ?? '')) return undefined;
        if (request.usedUp) return this.sendPause(request, reply, request.usedUp);
      }
      const { visitor } = request;
      if (!visitor) return this.sendStranger(request, reply);
      if (isForeign) throw fromElsewhere();
      if (visitor.isSuspended) throw suspended();
      if (!mayUse(visitor.caller, needs)) throw notAllowed();
      if (costs !== 'act') return undefined;
      request.usedUp = (await budget.chargeAct(visitor.person.id)) ?? null;
      if (!request.usedUp || isShownAgain) return undefined;
      lingerOnClose(request.raw);
      throw usedUpError(request.usedUp, reply);
    };

  /** Who is signed in, and whether they have requests left: a session of which it is known that its person has none costs no query. */
  async identify(request: FastifyRequest): Promise<void> {
    const { budget, visitors } = this.#frame.parts;
    const token = visitors.tokenOf(request);
    if (token === undefined) return;
    request.usedUp = budget.findPause(token) ?? null;
    if (request.usedUp) return;
    request.visitor = (await visitors.find(request)) ?? null;
    if (request.visitor) request.usedUp = (await budget.chargeRequest(request.visitor.person.id, token)) ?? null;
  }

  /** `sent`: what was typed into a form, which is kept. */
  sendPause(request: FastifyRequest, reply: FastifyReply, usedUp: UsedUp, sent?: URLSearchParams): FastifyReply {
    const { seals, visitors } = this.#frame.parts;
    if (wantsJson(request)) return sendScriptError(usedUpError(usedUp, reply), request, reply);
    const formToken = seals.formToken(visitors.tokenOf(request) ?? '');
    const path = request.url.split('?', 1)[0] ?? '';
    return this.#frame.sendToStranger(noteWait(usedUp, reply), pauseOf(usedUp, { formToken, sent: sent && { path, body: sent } }));
  }

  /** For who is not signed in, and asks for what only people see who are. */
  async sendStranger(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { admit, assets, consoleUrl, visitors } = this.#frame.parts;
    const seconds = await admit(requestSubject(request), 'signIn');
    if (seconds > 0) throw tooMany(reply, seconds);
    if (request.method !== 'GET' && request.method !== 'HEAD') throw signedOut();
    // A browser may have a session, and not send it on the way from another site.
    if (!visitors.hasCookie(request) && isFromOtherSite(request)) return send(reply, onwardPage(assets, ownPath(request.url, consoleUrl)));
    return this.#frame.redirect(reply, request.url === '/' ? '/sign-in' : `/sign-in?to=${encodeURIComponent(request.url)}`);
  }
}

export function tooMany(reply: FastifyReply, seconds: number): PageError {
  reply.header('retry-after', seconds);
  return new PageError(429, 'Too many requests', `Wait ${seconds} s and try again.`);
}

/** Whether a form was sent by a page of the console. A browser says so in one of two headers: what sends neither is no browser. */
export function isFromOwnPage({ headers }: Pick<FastifyRequest, 'headers'>, consoleUrl: string): boolean {
  const site = headers['sec-fetch-site'];
  return site === undefined ? headers.origin === consoleUrl : site === 'same-origin';
}

/** Whether another site has led a browser to a page: it has sent no cookie then. */
const isFromOtherSite = ({ headers }: Pick<FastifyRequest, 'headers'>): boolean =>
  headers['sec-fetch-site'] === 'cross-site' || headers['sec-fetch-site'] === 'same-site';

/** A path of the console that somebody is led on to. Anything else leads to the start. */
export function ownPath(text: string | undefined, consoleUrl: string): string {
  if (text === undefined || text.length > 1_000 || !/^\/(?![/\\])[\x21-\x7e]*$/.test(text) || text.includes('\\')) return '/';
  const url = URL.parse(text, consoleUrl);
  // Without its dots, /.//elsewhere.example is the address of another site.
  return url?.origin === consoleUrl && !url.pathname.startsWith('//') && !url.pathname.startsWith('/sign-in')
    ? `${url.pathname}${url.search}`
    : '/';
}

/** The form that ends all sessions of a person. */
export const endSessionsPath = '/me/sessions/end';

/** Of who has no requests left: made without a query. `sent`: what was typed into a form, and where it goes. */
function pauseOf(
  usedUp: UsedUp,
  { formToken, sent }: { readonly formToken: string; readonly sent: { readonly path: string; readonly body: URLSearchParams } | undefined },
): ShownPage {
  return {
    title: 'Too many requests',
    main: html`<h1>Too many requests</h1>
<p>${usedUpText(usedUp)}</p>
${
  sent &&
  html`<p>Nothing was changed. What you have typed is kept in this page.</p>
<form method="post" action="${sent.path}">${[...sent.body].map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
<button class="button wide">Send it again</button>
</form>`
}
<p class="soft small">Was it not you? Somebody else may be signed in with your name.</p>
<form method="post" action="${endSessionsPath}">${identityOf(formToken)}<button class="button quiet wide">End all my sessions</button></form>`,
  };
}

/** The same in place of what can't be shown again, such as an upload. */
function usedUpError(usedUp: UsedUp, reply: FastifyReply): PageError {
  noteWait(usedUp, reply);
  return new PageError(429, 'Too many requests', usedUpText(usedUp));
}

export function noteWait({ waitMs }: UsedUp, reply: FastifyReply): FastifyReply {
  return reply.status(429).header('retry-after', Math.ceil(waitMs / 1_000));
}

/** What was used up, and when it goes on. */
export function usedUpText({ what, limit, window, waitMs }: UsedUp): string {
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
