/** What one client has under way, and what waits for it. */
interface Queue {
  running: number;
  readonly waiting: Array<(hasTurn: boolean) => void>;
}

/** Lets a bounded number of each client's jobs run at once; further ones wait their turn, without delaying another client's. */
export class ClientTurns {
  readonly #queues = new Map<bigint, Queue>();

  /**
   * Resolves with what ends the turn; undefined where it was cancelled before it began. `onCancel` gets what gives the place in
   * the line up.
   */
  async take(clientId: bigint, max: number, onCancel: (cancel: () => void) => void): Promise<(() => void) | undefined> {
    const queue = this.#queues.get(clientId) ?? { running: 0, waiting: [] };
    this.#queues.set(clientId, queue);
    if (queue.running < max) queue.running += 1;
    else if (!(await waitInQueue(queue, onCancel))) return undefined;
    return () => {
      // A turn that is handed on leaves `running` as it is.
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
