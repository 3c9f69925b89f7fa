import type { FastifyReply, FastifyRequest } from 'fastify';
import { PeopleError } from '../../access/people/people-error.ts';
import { SignedOut } from '../../access/principals/principals.ts';
import { type AppError, errorCodes } from '../../platform/errors.ts';
import { type Html, html } from '../../platform/html.ts';
import { asAppError, noteError } from '../../platform/http/error-handler.ts';
import type { BareResponse } from '../../platform/http/protocol/client-errors.ts';
import type { Assets } from '../frame/assets.ts';
import { strangerPage } from '../frame/layout.ts';
import type { Frame } from './frame.ts';
import type { ShownPage } from './screens.ts';

/** What a page says in place of what was asked for. */
export class PageError extends Error {
  readonly status: number;
  readonly title: string;

  constructor(status: number, title: string, text: string) {
    super(text);
    this.status = status;
    this.title = title;
  }
}

export const notFound = (text = 'It may have been removed, or the address has a typing error.'): PageError =>
  new PageError(404, 'There is nothing here', text);

export const notAllowed = (text = 'Your role does not include this. An admin can change it.'): PageError =>
  new PageError(403, 'This is not yours to do', text);

export const fromElsewhere = (): PageError =>
  new PageError(
    403,
    'This came from elsewhere',
    'The console carries out only what was sent from its own pages. Nothing was changed. Open the page again.',
  );

/** Why a form could not be carried out. What is wrong with a field is shown beside it. */
export class FormError extends Error {
  readonly text: Html | string;
  readonly fields: ReadonlyMap<string, string>;

  constructor(text: Html | string, fields: string | ReadonlyMap<string, string> = new Map()) {
    super(plainOf(text));
    this.text = text;
    this.fields = typeof fields === 'string' ? new Map([[fields, plainOf(text)]]) : fields;
  }
}

const plainOf = (text: Html | string): string => (typeof text === 'string' ? text : text.text);

/** What is wrong with which fields, of all checks that throw it. */
export async function faultsOf(...checks: ReadonlyArray<() => unknown>): Promise<ReadonlyMap<string, string>> {
  const faults = new Map<string, string>();
  for (const check of checks) {
    try {
      await check();
    } catch (thrown) {
      if (!(thrown instanceof FormError)) throw thrown;
      for (const [field, fault] of thrown.fields) faults.set(field, fault);
    }
  }
  return faults;
}

/** What a request says whose session can't act any more. */
function cannotAct({ why }: SignedOut): PageError {
  if (why === 'ended') return signedOut();
  if (why === 'suspended') return suspended();
  return new PageError(
    403,
    'Your role was changed',
    'Nothing was changed. An admin has given you another role a moment ago. Open the page again.',
  );
}

export const suspended = (): PageError =>
  new PageError(
    403,
    'Your shelter is suspended',
    "The store has suspended it, so nothing can be changed or read here. Contact the store's staff.",
  );

export const signedOut = (): PageError =>
  new PageError(
    401,
    'You are signed out',
    'Nothing was changed. Sign in in another tab, then come back to this one and reload it. Your browser asks whether to send the form again: it then shows what you typed.',
  );

/** What a person is told whose act has no line in the journal, since its disk is full. */
export const ifUnrecorded = (isJournaled: boolean): string =>
  isJournaled ? '' : ' Tell the operators of the store: the disk of the journal is full, and a restored backup would undo it.';

/** Says what went wrong, and what to do, in words: as a page, or as JSON for a script. An error of the service is logged here, once. */
export function sendErrorPage(frame: Frame, given: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const thrown = given instanceof SignedOut ? cannotAct(given) : given;
  if (wantsJson(request)) return sendScriptError(thrown, request, reply);
  const error = thrown instanceof PageError ? thrown : inWords(asAppError(thrown), request);
  if (!(thrown instanceof PageError)) reply.headers(asAppError(thrown).headers);
  reply.status(error.status);
  const page = pageOf(error, request);
  const { visitor } = request;
  return visitor ? frame.sendPage(request, reply, visitor, page, request.url) : frame.sendToStranger(reply, page);
}

/** On the bare connection, for a request that can't be read: nobody knows who has sent it. */
export const unreadablePage = (assets: Assets, headers: Readonly<Record<string, string>>, { code, message }: AppError): BareResponse => {
  const isSlow = code === 'request_timeout';
  const title = isSlow ? 'That took too long' : "This can't be done";
  const main = html`<h1>${title}</h1>
<p>${isSlow ? 'What you sent did not arrive in time, and nothing was changed. Go back, and try again where the connection is better.' : message}</p>`;
  return { body: strangerPage(assets, title, main).text, headers: { ...headers, 'content-type': 'text/html; charset=utf-8' } };
};

/** Scripts of pages ask for it; browsers that open a page don't. */
export const wantsJson = ({ headers: { accept = '' } }: FastifyRequest): boolean =>
  accept.includes('application/json') && !accept.includes('text/html');

function inWords(error: AppError, request: FastifyRequest): PageError {
  noteError(error, request);
  if (error.code === 'unavailable')
    return new PageError(
      503,
      'Not at this moment',
      'The store is busy or being repaired. Wait a few seconds and reload this page. If you have sent a form, your browser asks whether to send it again: do, and it is carried out once.',
    );
  if (error.status >= 500)
    return new PageError(500, 'Something went wrong', 'It was not you. Try again; if it stays, send your operator the number below.');
  if (error.code === 'body_too_large')
    return new PageError(413, 'That was too much at once', 'Shorten the longest text, and send the form again.');
  if (errorCodes[error.code].status === 404) return new PageError(404, 'There is nothing here', error.message);
  return new PageError(error.status, "This can't be done", error.message);
}

const pageOf = ({ title, message, status }: PageError, { id }: FastifyRequest): ShownPage => ({
  title,
  main: html`<h1>${title}</h1>
<p>${message}</p>
${status >= 500 && html`<p class="soft small">${id}</p>`}
${
  status === 401
    ? html`<p><a class="button" href="/sign-in" target="_blank">Sign in in another tab</a></p>`
    : html`<p><a class="button quiet" href="/">Go to the start</a></p>`
}`,
});

/** For a script of a page, which shows the message. */
export function sendScriptError(given: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const thrown = given instanceof SignedOut ? cannotAct(given) : given;
  if (thrown instanceof PageError) return reply.status(thrown.status).send({ message: thrown.message });
  if (thrown instanceof PeopleError) return reply.status(403).send({ message: thrown.message });
  const error = asAppError(thrown);
  noteError(error, request);
  const message = error.status >= 500 ? 'The console did not manage that. Try again in a moment.' : error.message;
  return reply.status(error.status).headers(error.headers).send({ message });
}
