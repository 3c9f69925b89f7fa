import type { FastifyReply, FastifyRequest } from 'fastify';
import { SignedOut } from '../../partners/principals/principals.ts';
import { type AppError, errorCodes } from '../../platform/errors.ts';
import { html } from '../../platform/html.ts';
import { asAppError, noteError } from '../../platform/http/error-handler.ts';
import type { BareResponse } from '../../platform/http/protocol/client-errors.ts';
import type { Assets } from '../frame/assets.ts';
import { strangerPage } from '../frame/layout.ts';
import type { Frame } from './frame.ts';
import { cannotAct, PageError } from './page-error.ts';
import type { Page } from './screens.ts';
import { sendScriptError } from './script-errors.ts';

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

const pageOf = ({ title, message, status }: PageError, { id }: FastifyRequest): Page => ({
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
