import type { FastifyReply, FastifyRequest } from 'fastify';
import type { PersonCaller } from '../../partners/people/caller.ts';
import type { Clock } from '../../platform/clock.ts';
import { type Html, html } from '../../platform/html.ts';
import type { WrongField } from '../forms/fields.ts';
import type { Assets } from '../frame/assets.ts';
import { type Banner, type Place, personPage, strangerPage } from '../frame/layout.ts';
import type { Cookies } from '../sessions/cookies.ts';
import type { Seals } from '../sessions/seals.ts';
import type { Visitor, Visitors } from '../sessions/visitors.ts';
import { mayUse } from './access.ts';
import type { Page, PageRoute } from './screens.ts';
import { type Rejected, Visit } from './visit.ts';

interface Parts {
  readonly assets: Assets;
  readonly seals: Seals;
  readonly cookies: Cookies;
  readonly visitors: Visitors;
  readonly clock: Clock;
  /** An origin. */
  readonly consoleUrl: string;
  /** The seconds until an address may ask again; 0: now. */
  readonly admit: (address: string) => Promise<number>;
  /** Those that are in the navigation. */
  readonly pages: () => readonly PageRoute[];
}

const doneCookie = 'done';
/** From the form to the page that it leads to. */
const doneMs = 60_000;

/** What all routes of the console share. */
export class Frame {
  readonly parts: Parts;

  constructor(parts: Parts) {
    this.parts = parts;
  }

  sendPage(
    request: FastifyRequest,
    reply: FastifyReply,
    visitor: Visitor,
    { title, main }: Page,
    path: string,
    banner?: Banner,
  ): FastifyReply {
    const { assets } = this.parts;
    const shown = banner ?? this.#takeDone(request, reply);
    const places = this.#placesOf(visitor.caller);
    return send(reply, personPage({ assets, places, path, workplace: visitor.workplace.name, banner: shown }, title, main));
  }

  /** The page of what was sent and not accepted, or not yet, with what was typed. */
  async showAgain(
    route: PageRoute,
    request: FastifyRequest,
    reply: FastifyReply,
    rejected: Rejected,
    banner?: Banner,
  ): Promise<FastifyReply> {
    const { visitor } = request;
    if (!visitor) throw new Error('nobody is signed in');
    const visit = new Visit(visitor, { url: pathOf(route.path, request), params: request.params }, this.parts.clock.now(), rejected);
    const page = await route.show(visit);
    const wrong = visit.wrongFields;
    // One field has the focus itself, with what is wrong beside it.
    const shown = banner && wrong.length > 1 ? { ...banner, text: html`${banner.text}${linksTo(wrong)}`, hasFocus: true } : banner;
    return this.sendPage(request, reply, visitor, page, route.path, shown);
  }

  sendToStranger(reply: FastifyReply, { title, main }: Page): FastifyReply {
    return send(reply, strangerPage(this.parts.assets, title, main));
  }

  /** Leads to a page, which says what was done. */
  redirect(reply: FastifyReply, to: string, done?: string | null, once?: string): FastifyReply {
    if (done) this.done(reply, done, once);
    return reply.status(303).header('location', to).send();
  }

  /** What the next page says. In a cookie, so that nothing is stored, and shown once. */
  done(reply: FastifyReply, done: string, once?: string): void {
    const { cookies, seals, clock } = this.parts;
    cookies.write(reply, doneCookie, seals.sealValue('done', { done, once }, clock.now() + doneMs), { seconds: doneMs / 1_000 });
  }

  #takeDone(request: FastifyRequest, reply: FastifyReply): Banner | undefined {
    const { cookies, seals, clock } = this.parts;
    const sealed = cookies.read(request, doneCookie);
    if (sealed === undefined) return undefined;
    cookies.forget(reply, doneCookie);
    const found = seals.openValue<{ done: string; once?: string }>('done', sealed, clock.now());
    return found && { tone: 'good', text: html`${found.done}${found.once !== undefined && html`<p class="secret">${found.once}</p>`}` };
  }

  #placesOf(caller: PersonCaller): Place[] {
    return this.parts
      .pages()
      .flatMap(({ path, place, needs }) => (place && mayUse(caller, needs) ? [{ path, ...place }] : []))
      .sort((a, b) => a.order - b.order);
  }
}

const linksTo = (wrong: readonly WrongField[]): Html =>
  html`<ul>${wrong.map(({ id, label, error }) => html`<li><a href="#${id}">${label}</a>: ${error}</li>`)}</ul>`;

export const send = (reply: FastifyReply, page: Html): FastifyReply => reply.type('text/html; charset=utf-8').send(page.text);

/** The path of a page with the ids that are in the path of a request. */
export const pathOf = (template: string, { params }: FastifyRequest): string =>
  template.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent((params as Record<string, string>)[name] ?? ''));
