import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { PeopleError } from '../../access/people/people-error.ts';
import { requestSubject } from '../../platform/caller-addresses.ts';
import { isFromOwnPage, tooMany } from '../screens/entrance.ts';
import type { Frame } from '../screens/frame.ts';
import { fromElsewhere, PageError, sendErrorPage, sendScriptError } from '../screens/page-error.ts';

type Handle = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

/** What those may open who are not signed in. All of it is counted against their addresses, and nothing of it is stored but how often it failed. */
export class StrangerRoutes {
  readonly paths: Array<{ readonly method: 'GET' | 'POST'; readonly path: string }> = [];
  readonly #app: FastifyInstance;
  readonly #frame: Frame;

  constructor(app: FastifyInstance, frame: Frame) {
    this.#app = app;
    this.#frame = frame;
  }

  page(path: string, handle: Handle): void {
    this.#route('GET', path, handle);
  }

  form(path: string, handle: Handle): void {
    this.#route('POST', path, handle);
  }

  /** For scripts: errors are JSON. */
  script(path: string, handle: (request: FastifyRequest, reply: FastifyReply) => Promise<object>): void {
    this.#route('POST', path, async (request, reply) => {
      const received = handle(request, reply);
      return received.then(
        (body) => reply.send(body),
        (thrown: unknown) => sendScriptError(thrown, request, reply),
      );
    });
  }

  #route(method: 'GET' | 'POST', path: string, handle: Handle): void {
    const frame = this.#frame;
    this.paths.push({ method, path });
    this.#app.route({
      method,
      url: path,
      bodyLimit: bodyBytesMax,
      errorHandler: (error, request, reply) => void sendErrorPage(frame, inPage(error), request, reply),
      onRequest: async (request, reply) => {
        const seconds = await frame.parts.admit(requestSubject(request), 'signIn');
        if (seconds > 0) throw tooMany(reply, seconds);
        request.visitor = (await frame.parts.visitors.find(request)) ?? null;
        if (method === 'POST' && !isFromOwnPage(request, frame.parts.consoleUrl)) throw fromElsewhere();
      },
      handler: handle,
    });
  }
}

const bodyBytesMax = 65_536;

const inPage = (thrown: unknown): unknown =>
  thrown instanceof PeopleError ? new PageError(403, "That didn't work", thrown.message) : thrown;
