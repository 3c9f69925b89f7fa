/** What one client has under way, and what waits for it. */
interface Line {
  running: number;
  readonly waiting: Array<(hasTurn: boolean) => void>;
}

/** Lets a bounded number of each client's jobs run at once; further ones wait their turn, without delaying another client's. */
export class ClientTurns {
  readonly #lines = new Map<bigint, Line>();

  /**
   * Resolves with what ends the turn; undefined where it was cancelled before it began. `onCancel` gets what gives the place in
   * the line up.
   */
  async take(clientId: bigint, max: number, onCancel: (cancel: () => void) => void): Promise<(() => void) | undefined> {
    const line = this.#lines.get(clientId) ?? { running: 0, waiting: [] };
    this.#lines.set(clientId, line);
    if (line.running < max) line.running += 1;
    else if (!(await waitIn(line, onCancel))) return undefined;
    return () => {
      // A turn that is handed on leaves `running` as it is.
      const next = line.waiting.shift();
      if (next) next(true);
      else if (--line.running === 0) this.#lines.delete(clientId);
    };
  }
}

function waitIn(line: Line, onCancel: (cancel: () => void) => void): Promise<boolean> {
  return new Promise((resolve) => {
    line.waiting.push(resolve);
    onCancel(() => {
      const place = line.waiting.indexOf(resolve);
      if (place < 0) return;
      line.waiting.splice(place, 1);
      resolve(false);
    });
  });
}
