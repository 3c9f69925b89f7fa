import type { FastifyReply, FastifyRequest } from 'fastify';
import { requestSubject } from '../../platform/caller-addresses.ts';
import { lingerOnClose } from '../../platform/http/protocol/connections.ts';
import { onwardPage } from '../frame/layout.ts';
import { isFromOtherSite, isFromOwnPage, ownPath } from '../sessions/own-site.ts';
import type { UsedUp } from '../sessions/person-budget.ts';
import type { Visitor } from '../sessions/visitors.ts';
import { mayUse, type Needs } from './access.ts';
import { wantsJson } from './error-page.ts';
import { type Frame, send } from './frame.ts';
import { fromElsewhere, notAllowed, PageError, signedOut, suspended } from './page-error.ts';
import { sendScriptError } from './script-errors.ts';
import { noteWait, pauseOf, usedUpError } from './used-up.ts';

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
