import type { FastifyReply, FastifyRequest } from 'fastify';
import { FairTurns, NoTurn } from '../../platform/bounded/fair-turns.ts';
import { retryLater } from '../../platform/errors.ts';

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
export class PersonTurns {
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
