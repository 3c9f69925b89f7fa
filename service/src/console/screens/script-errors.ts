import type { FastifyReply, FastifyRequest } from 'fastify';
import { PeopleError } from '../../partners/people/people-error.ts';
import { SignedOut } from '../../partners/principals/principals.ts';
import { asAppError, noteError } from '../../platform/http/error-handler.ts';
import { cannotAct, PageError } from './page-error.ts';

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
