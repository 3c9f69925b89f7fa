import { PassThrough } from 'node:stream';
import type { FastifyReply, FastifyRequest, RequestPayload } from 'fastify';
import { FairTurns } from '../../platform/bounded/fair-turns.ts';
import { liftRequestTimeout, lingerOnClose } from '../../platform/http/protocol/connections.ts';
import { PageError } from './page-error.ts';

/** In place of the time for a whole request: a long text in Cyrillic is sent six times as long as it was typed. */
const formMsMax = 60_000;
/** Forms of a person, and of all people of a process, that have this time. What is beyond has the time of any request. */
const slowFormsOfPersonMax = 4;
const slowFormsMax = 256;

/** Forms of people who are signed in, whose lines may be slow. Strangers don't get this time: they could hold connections for nothing. */
export class SlowForms {
  readonly #turns = new FairTurns({ turnsMax: slowFormsMax, turnsOfOwnerMax: slowFormsOfPersonMax, pendingOfOwnerMax: 0 });
  readonly #stopping: AbortSignal;
  readonly #msMax: number;

  constructor(stopping: AbortSignal, msMax = formMsMax) {
    this.#stopping = stopping;
    this.#msMax = msMax;
  }

  /** As a hook `preParsing`: returns the body in place of `payload`. The turn is given back once the body has arrived or is cut. */
  readonly receive = async (
    { raw, visitor }: Pick<FastifyRequest, 'raw' | 'visitor'>,
    _: FastifyReply,
    payload: RequestPayload,
  ): Promise<RequestPayload> => {
    const turn = visitor ? this.#turns.takeNow(visitor.person.id) : 'others';
    if (typeof turn !== 'object') return payload;
    const body = new PassThrough();
    const held = new DisposableStack();
    held.use(turn);
    held.use(liftRequestTimeout(raw));
    const cut = (error: Error) => {
      lingerOnClose(raw);
      payload.unpipe(body);
      body.destroy(error);
      // What still arrives is discarded.
      raw.resume();
    };
    const timer = setTimeout(() => cut(tooSlow(this.#msMax)), this.#msMax);
    held.defer(() => clearTimeout(timer));
    const onStopping = () => cut(stopped());
    this.#stopping.addEventListener('abort', onStopping, { once: true });
    held.defer(() => this.#stopping.removeEventListener('abort', onStopping));
    payload.once('end', () => held.dispose()).once('error', (error) => body.destroy(error));
    body.once('close', () => held.dispose());
    return payload.pipe(body);
  };
}

const tooSlow = (ms: number): PageError =>
  new PageError(
    408,
    'The form did not arrive in time',
    `After ${ms / 1_000} s a part of it was still on its way, and nothing was changed. Go back: your browser still has what you typed. Send it again where the connection is better.`,
  );

const stopped = (): PageError =>
  new PageError(
    503,
    'Not at this moment',
    'The console is starting again, and nothing was changed. Go back, and send the form again in a minute.',
  );
