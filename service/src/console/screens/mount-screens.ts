import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { PeopleError } from '../../access/people/people-error.ts';
import { SignedOut } from '../../access/principals/principals.ts';
import { FairTurns, NoTurn } from '../../platform/bounded/fair-turns.ts';
import { type AppError, retryLater } from '../../platform/errors.ts';
import { type Html, html } from '../../platform/html.ts';
import { asAppError, noteError } from '../../platform/http/error-handler.ts';
import { type FormRunner, formIdOf } from '../forms/form-runner.ts';
import { readForm } from '../forms/form-values.ts';
import type { Banner } from '../frame/layout.ts';
import type { Visitor } from '../sessions/visitors.ts';
import { Entrance, noteWait, usedUpText } from './entrance.ts';
import { type Frame, filledPath } from './frame.ts';
import { FormError, fromElsewhere, notFound, PageError, sendErrorPage, sendScriptError } from './page-error.ts';
import type { FormRoute, Needs, OtherRoute, PageRoute, Screens, ShownPage } from './screens.ts';
import type { SlowForms } from './slow-forms.ts';
import { hiddenFields, isFormToken, Visit } from './visit.ts';

/** More than any form has. */
const formBytesMax = 262_144;

/** Mounts everything that only people see who are signed in. */
export function mountScreens(pages: FastifyInstance, screens: Screens, frame: Frame, runner: FormRunner, slowForms: SlowForms): void {
  const { clock } = frame.parts;
  const entrance = new Entrance(frame);
  const turns = new PersonTurns();

  const visitorOf = ({ visitor }: FastifyRequest): Visitor => {
    if (!visitor) throw new Error('nobody is signed in');
    return visitor;
  };

  const showPage = async (route: PageRoute, request: FastifyRequest, reply: FastifyReply) => {
    const visitor = visitorOf(request);
    if (route.isFresh && !visitor.session.isFresh) return frame.redirect(reply, againPath(request.url));
    const visit = new Visit(visitor, request, clock.now());
    return frame.sendPage(request, reply, visitor, await frame.read(route, request, visitor, visit), route.path);
  };

  const submit = async (route: FormRoute, request: FastifyRequest, reply: FastifyReply) => {
    const { body, usedUp } = request;
    if (!(body instanceof URLSearchParams)) throw new PageError(415, "This can't be done", 'This form is sent as a form of a page.');
    if (usedUp?.what === 'requests') return entrance.sendPause(request, reply, usedUp, body);
    const visitor = visitorOf(request);
    const path = route.previewOf === undefined ? (request.url.split('?', 1)[0] ?? '') : filledPath(route.previewOf, request);
    const reject = async (status: number, banner: Banner, errors: ReadonlyMap<string, string> = new Map()) => {
      reply.status(status);
      // What shows a page is charged to its person, and this is not.
      if (route.ends) return frame.sendPage(request, reply, visitor, notEnded(banner, filledPath(route.page.path, request)), request.url);
      return frame.showAgain(route.page, request, reply, { path, values: body, errors }, banner);
    };
    if (usedUp) {
      noteWait(usedUp, reply);
      return reject(429, { tone: 'warn', text: `${usedUpText(usedUp)} Nothing was changed, and what you typed is still here.` });
    }
    if (!isFormToken(body.get(hiddenFields.token), visitor)) {
      return reject(403, {
        tone: 'warn',
        text: 'You have signed in again since this page was opened. Look at it once more, and send it again.',
      });
    }
    if (route.isFresh && !visitor.session.isFresh) {
      const link = againPath(filledPath(route.page.path, request));
      return reject(403, {
        tone: 'warn',
        text: html`For this you need to have signed in within the last 10 minutes. <a href="${link}">Sign in again</a>`,
      });
    }
    const read = readForm(route.fields, body);
    const visit = new Visit(visitor, { url: filledPath(route.page.path, request), params: request.params }, clock.now());
    const errors = new Map([...((await route.check?.(visit, read.values, body)) ?? []), ...read.errors]);
    if (errors.size > 0) return reject(422, { tone: 'bad', text: anotherLook(errors.size) }, errors);
    if (route.previewOf !== undefined) return frame.showAgain(route.page, request, reply, { path, values: body, errors });
    const form = { formId: formIdOf(body.get(hiddenFields.id)), path, body };
    const carried = runner.run(form, visitor.caller, async (tx, joined) => {
      const version = body.get(hiddenFields.version) ?? undefined;
      return route.act({ visit, values: read.values, version, tx, joined, sent: body });
    });
    const show = ({ location, message, ...unstored }: Awaited<typeof carried>) => frame.redirect(reply, location, message, unstored);
    return carried.then(show, async (thrown: unknown) => {
      if (thrown instanceof FormError) {
        return reject(422, { tone: 'bad', text: thrown.text }, thrown.fields);
      }
      if (thrown instanceof PeopleError) return reject(statuses[thrown.problem] ?? 409, { tone: 'bad', text: thrown.message });
      const error = thrown instanceof PageError || thrown instanceof SignedOut ? undefined : asAppError(thrown);
      if (!error || error.status >= 500 || error.status === 404) throw thrown;
      noteError(error, request);
      reply.headers(error.headers);
      return reject(error.status, { tone: 'bad', text: await explain(error, route, visit) });
    });
  };

  const handleOther = async (route: OtherRoute, request: FastifyRequest, reply: FastifyReply) => {
    try {
      const visitor = visitorOf(request);
      await frame.parts.visitors.confirm(request, visitor);
      if (route.method === 'POST' && !route.checksToken && !isFormToken(tokenOf(request), visitor)) throw fromElsewhere();
      if (route.isFresh && !visitor.session.isFresh)
        throw new PageError(403, 'Sign in again', 'For this you need to have signed in within the last 10 minutes. Sign in again.');
      return await route.handle(new Visit(visitor, request, clock.now()), request, reply);
    } catch (thrown) {
      if (!route.isScript) throw thrown;
      return sendScriptError(thrown, request, reply);
    }
  };

  const toLook = (needs: Needs) => ({ onRequest: entrance.require({ needs, costs: 'request' }) });
  for (const route of screens.pages)
    pages.get(
      route.path,
      toLook(route.needs),
      turns.run((request, reply) => showPage(route, request, reply)),
    );
  const shown = new Set(screens.pages.map(({ path }) => path));
  for (const route of screens.forms) {
    const costs = route.previewOf !== undefined ? 'request' : route.ends ? 'end' : 'act';
    const onRequest = entrance.require({ needs: route.needs, costs, isShownAgain: true });
    const options = { onRequest, preParsing: slowForms.receive, bodyLimit: formBytesMax };
    pages.post(
      route.path,
      options,
      turns.run((request, reply) => submit(route, request, reply)),
    );
    // Of a form that was sent and not accepted, a browser may open the path again.
    if (shown.has(route.path)) continue;
    shown.add(route.path);
    pages.get(route.path, toLook(route.needs), (request, reply) => frame.redirect(reply, filledPath(route.page.path, request)));
  }
  for (const route of screens.others) {
    const onRequest = entrance.require({ needs: route.needs, costs: route.method === 'POST' ? 'act' : 'request' });
    const handler = (request: FastifyRequest, reply: FastifyReply) => handleOther(route, request, reply);
    pages.route({ method: route.method, url: route.path, onRequest, bodyLimit: formBytesMax, handler });
  }
  pages.setNotFoundHandler(async (request: FastifyRequest, reply: FastifyReply) => {
    await entrance.identify(request);
    if (request.usedUp) return entrance.sendPause(request, reply, request.usedUp);
    return request.visitor ? sendErrorPage(frame, notFound(), request, reply) : entrance.sendStranger(request, reply);
  });
}

const notEnded = ({ text }: Banner, back: string): ShownPage => ({
  title: 'Nothing was changed',
  main: html`<h1>Nothing was changed</h1>
<div>${text}</div>
<p><a class="button quiet" href="${back}">Go back</a></p>`,
});

const anotherLook = (count: number): string => (count === 1 ? 'One field needs another look.' : `${count} fields need another look.`);

const againPath = (to: string): string => `/sign-in/again?to=${encodeURIComponent(to)}`;

const statuses: Partial<Record<PeopleError['problem'], number>> = { not_allowed: 403, not_found: 404, invalid: 422 };

async function explain(error: AppError, { explainConflict, explain: say }: FormRoute, visit: Visit): Promise<Html | string> {
  if (error.code !== 'precondition_failed') return (await say?.(error, visit)) ?? error.message;
  const what = await explainConflict?.(visit);
  return html`${what ?? 'Somebody else has changed this meanwhile.'} What you typed is still here: compare, and send it again.`;
}

function tokenOf({ headers, url }: FastifyRequest): string | null {
  const header = headers['x-form-token'];
  return typeof header === 'string' ? header : new URLSearchParams(url.split('?', 2)[1]).get(hiddenFields.token);
}

const turnsOfPersonMax = 2;
const waitMsMax = 10_000;
/** As many as a person may ask for in a minute. */
const waitingOfPersonMax = 240;
const restMsMax = 250;

type Handle = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;

/**
 * Pages and forms of a person that a process works on at once; others of the person wait. Without this, all that a person may ask for in a
 * minute could come in one second, and colleagues would wait for it. A turn rests for as long as it took, so that half of the time is left.
 */
class PersonTurns {
  readonly #turns = new FairTurns({
    turnsMax: Number.POSITIVE_INFINITY,
    turnsOfOwnerMax: turnsOfPersonMax,
    waitMsMax,
    pendingOfOwnerMax: waitingOfPersonMax,
    restMsAfter: (tookMs) => Math.min(tookMs, restMsMax),
  });

  /** As a handler: the body of the request has arrived. Nobody waits whose request is rejected without a query. */
  readonly run =
    (handle: Handle): Handle =>
    async (request, reply) => {
      try {
        return await this.#turns.run(request.visitor?.person.id, () => handle(request, reply));
      } catch (error) {
        throw error instanceof NoTurn ? retryLater('You have too many requests in progress. Retry in 1 s.', error) : error;
      }
    };
}
