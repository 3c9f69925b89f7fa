import { isApplicationTransition, unconfirmed } from '../../domain/application-states.ts';
import { findDisagreement } from './application-agreement.ts';
import type { ApplicationRow, ApplicationState } from './verify-application-queries.ts';

const dayMs = 86_400_000;
/** A row's time is later than the beginning of its transaction, which decides. */
const toleranceMs = 60_000;

/** Replays the history of one application, row by row. The methods return what is wrong as a sentence, or undefined. */
export class ApplicationReplay {
  readonly #id: bigint;
  #status: string | null = null;
  #orderId: bigint | null = null;
  #by = '';
  #at = new Date(0);

  constructor(id: bigint) {
    this.#id = id;
  }

  apply({ id, from, to, by, at, orderId }: ApplicationRow): string | undefined {
    const violation = this.#step(from, to, at);
    this.#status = to;
    this.#by = by;
    this.#at = at;
    this.#orderId = orderId;
    return violation && `application history row ${id} (application ${this.#id}): ${violation}`;
  }

  /** Compares the end of the history with the current row, and that with its order and its animal. */
  compare(application: ApplicationState): string | undefined {
    const violation = this.#compareEnd(application) ?? findDisagreement(application);
    return violation && `application ${this.#id}: ${violation}`;
  }

  #step(from: string | null, to: string, at: Date): string | undefined {
    if (from !== this.#status) return `the application changes from ${named(from)} to ${to}, but its status was ${named(this.#status)}`;
    const days = (at.getTime() - this.#at.getTime() - toleranceMs) / dayMs;
    return isApplicationTransition(from, to, { by: this.#by, days })
      ? undefined
      : `an application can't change from ${named(from)} to ${to}`;
  }

  #compareEnd({ status, orderId }: ApplicationState): string | undefined {
    // An unconfirmed one has no history.
    if (this.#status !== (status === unconfirmed ? null : status))
      return `its history ends with ${named(this.#status)}, but its status is ${status}`;
    if (this.#orderId !== orderId) return `its history ends with ${order(this.#orderId)}, but it names ${order(orderId)}`;
    return undefined;
  }
}

const named = (status: string | null): string => status ?? 'nothing';
const order = (id: bigint | null): string => (id === null ? 'no order' : `order ${id}`);
