import type { FastifyReply, FastifyRequest } from 'fastify';
import type { PersonCaller } from '../../access/principals/principals.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Db } from '../../platform/db/handles.ts';
import { type Html, html } from '../../platform/html.ts';
import type { WrongField } from '../forms/fields.ts';
import type { Unstored } from '../forms/form-runner.ts';
import type { Assets } from '../frame/assets.ts';
import { type Banner, type NavigationPlace, personPage, strangerPage } from '../frame/layout.ts';
import type { Cookies, Devices, Seals } from '../sessions/cookies.ts';
import type { PersonBudget } from '../sessions/person-budget.ts';
import type { Visitor, Visitors } from '../sessions/visitors.ts';
import { mayUse, type PageRoute, type ShownPage } from './screens.ts';
import { undoStrip } from './undo-strip.ts';
import { type Rejected, Visit } from './visit.ts';

interface Parts {
  readonly assets: Assets;
  readonly db: Db;
  readonly seals: Seals;
  readonly cookies: Cookies;
  readonly visitors: Visitors;
  readonly devices: Devices;
  readonly clock: Clock;
  /** An origin. */
  readonly consoleUrl: string;
  /** Charges an address. The seconds until it may ask again; 0: now. */
  readonly admit: (address: string, purpose: 'signIn' | 'endings') => Promise<number>;
  readonly budget: PersonBudget;
  /** Those that are in the navigation. */
  readonly pages: () => readonly PageRoute[];
}

const doneCookie = 'done';
/** From the form to the page that it leads to. */
const doneMs = 60_000;

interface Done extends Unstored {
  readonly done: string;
}

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
    { title, main, strip }: ShownPage,
    path: string,
    banner?: Banner,
  ): FastifyReply {
    const { assets, devices } = this.parts;
    devices.note(request, reply, visitor.person.email);
    const shown = banner ?? this.#takeDone(request, reply);
    const places = this.#placesOf(visitor.caller);
    return send(reply, personPage({ assets, places, path, workplace: visitor.workplace.name, banner: shown, strip }, title, main));
  }

  /** What a page shows. It is read first: so nothing is shown that was read after its visitor was signed out, however long they waited. */
  async read(route: PageRoute, request: FastifyRequest, visitor: Visitor, visit: Visit): Promise<ShownPage> {
    const page = await route.show(visit);
    const strip = await undoStrip(this.parts.db, visit);
    await this.parts.visitors.confirm(request, visitor);
    return { ...page, strip };
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
    const visit = new Visit(visitor, { url: filledPath(route.path, request), params: request.params }, this.parts.clock.now(), rejected);
    const page = await this.read(route, request, visitor, visit);
    const wrong = visit.wrongFields;
    // One field has the focus itself, with what is wrong beside it.
    const shown = banner && wrong.length > 1 ? { ...banner, text: html`${banner.text}${linksTo(wrong)}`, hasFocus: true } : banner;
    return this.sendPage(request, reply, visitor, page, route.path, shown);
  }

  sendToStranger(reply: FastifyReply, { title, main }: ShownPage): FastifyReply {
    return send(reply, strangerPage(this.parts.assets, title, main));
  }

  /** Leads to a page, which says what was done. */
  redirect(reply: FastifyReply, to: string, done?: string | null, unstored: Unstored = {}): FastifyReply {
    if (done) this.done(reply, done, unstored);
    return reply.status(303).header('location', to).send();
  }

  /** What the next page says. In a cookie, so that nothing is stored, and shown once. */
  done(reply: FastifyReply, done: string, { once }: Unstored = {}): void {
    const { cookies, seals, clock } = this.parts;
    const value: Done = { done, once };
    cookies.write(reply, doneCookie, seals.sealValue('done', value, clock.now() + doneMs), { seconds: doneMs / 1_000 });
  }

  #takeDone(request: FastifyRequest, reply: FastifyReply): Banner | undefined {
    const { cookies, seals, clock } = this.parts;
    const sealed = cookies.read(request, doneCookie);
    if (sealed === undefined) return undefined;
    cookies.forget(reply, doneCookie);
    const found = seals.openValue<Done>('done', sealed, clock.now());
    if (!found) return undefined;
    const { done, once } = found;
    return {
      tone: 'good',
      text: html`${done}${once !== undefined && html`<p class="secret">${once}</p>`}`,
    };
  }

  #placesOf(caller: PersonCaller): NavigationPlace[] {
    return this.parts
      .pages()
      .flatMap(({ path, place, needs }) => (place && mayUse(caller, needs) ? [{ path, ...place, name: nameFor(caller, place) }] : []))
      .sort((a, b) => a.order - b.order);
  }
}

const nameFor = ({ shelterId }: PersonCaller, { name, nameInShelter = name }: NonNullable<PageRoute['place']>): string =>
  shelterId === null ? name : nameInShelter;

const linksTo = (wrong: readonly WrongField[]): Html =>
  html`<ul>${wrong.map(({ id, label, error }) => html`<li><a href="#${id}">${label}</a> ${error}</li>`)}</ul>`;

declare module 'fastify' {
  interface FastifyRequest {
    /** Of the page that is sent. */
    showsPersonalData: boolean;
  }
}

export function send(reply: FastifyReply, page: Html): FastifyReply {
  reply.request.showsPersonalData = page.isPersonal;
  return reply.type('text/html; charset=utf-8').send(page.text);
}

/** The path of a page with the ids that are in the path of a request. */
export const filledPath = (template: string, { params }: FastifyRequest): string =>
  template.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent((params as Record<string, string>)[name] ?? ''));
