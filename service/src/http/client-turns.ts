/** The jobs of one client. */
interface Queue {
  running: number;
  /** Called with true when the turn begins, with false when the job is cancelled. */
  readonly waiting: Array<(hasTurn: boolean) => void>;
}

/**
 * A semaphore per client: at most `max` jobs of a client run at once, and its others wait, first in, first out. They don't
 * delay other clients. Invariants:
 * - A client is in `#queues` exactly while one of its jobs is running; nothing waits unless `max` jobs are running.
 * - A turn that ends goes directly to the next waiting job, so `running` stays the same.
 */
export class ClientTurns {
  readonly #queues = new Map<bigint, Queue>();

  /**
   * Waits for a turn and resolves with the function that ends it; undefined if it was cancelled before it began. `onCancel`
   * receives the function that cancels a waiting job.
   */
  async take(clientId: bigint, max: number, onCancel: (cancel: () => void) => void): Promise<(() => void) | undefined> {
    const queue = this.#queues.get(clientId) ?? { running: 0, waiting: [] };
    this.#queues.set(clientId, queue);
    if (queue.running < max) queue.running += 1;
    else if (!(await waitInQueue(queue, onCancel))) return undefined;
    return () => {
      const next = queue.waiting.shift();
      if (next) next(true);
      else if (--queue.running === 0) this.#queues.delete(clientId);
    };
  }
}

function waitInQueue(queue: Queue, onCancel: (cancel: () => void) => void): Promise<boolean> {
  return new Promise((resolve) => {
    queue.waiting.push(resolve);
    onCancel(() => {
      const index = queue.waiting.indexOf(resolve);
      if (index < 0) return;
      queue.waiting.splice(index, 1);
      resolve(false);
    });
  });
}
