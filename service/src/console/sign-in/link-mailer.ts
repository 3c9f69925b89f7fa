import type { FastifyBaseLogger } from 'fastify';
import { queueSignInLink } from '../../changes/mail/people-mail.ts';
import { theService } from '../../domain/actor.ts';
import type { Transactor } from '../../platform/db/handles.ts';

const waitingMax = 100;

/** Queues mail with links for those who have asked for one, after the page has said so. A request while too many wait is dropped. */
export class LinkMailer {
  readonly #db: Transactor;
  readonly #log: FastifyBaseLogger;
  readonly #waiting = new Set<Promise<void>>();

  constructor(db: Transactor, log: FastifyBaseLogger) {
    this.#db = db;
    this.#log = log;
  }

  ask(whose: () => Promise<bigint | undefined>): void {
    if (this.#waiting.size >= waitingMax) return;
    const asking = this.#queue(whose)
      .catch((error: unknown) => this.#log.warn({ err: error }, 'could not queue a link'))
      .finally(() => this.#waiting.delete(asking));
    this.#waiting.add(asking);
  }

  /** Until everything is queued that was asked for. */
  async settle(): Promise<void> {
    await Promise.all(this.#waiting);
  }

  async #queue(whose: () => Promise<bigint | undefined>): Promise<void> {
    const personId = await whose();
    if (personId !== undefined) await this.#db.transaction((tx) => queueSignInLink(tx, personId), theService);
  }
}
