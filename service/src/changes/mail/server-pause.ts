import { setTimeout as sleep } from 'node:timers/promises';

const pauseMsMin = 1_000;
const pauseMsMax = 60_000;

/**
 * Between attempts while the server can't be reached, rejects the login, or fails in another way. Shared by the senders: a server may lock out
 * who tries too often. A single fault is followed by no pause: connections break.
 */
export class ServerPause {
  #failures = 0;
  #untilMs = 0;

  /** The server has failed. Failures of several senders at the same time are one. */
  note(): void {
    const nowMs = performance.now();
    if (nowMs < this.#untilMs) return;
    this.#failures += 1;
    if (this.#failures > 1) this.#untilMs = nowMs + Math.min(pauseMsMin * 2 ** (this.#failures - 2), pauseMsMax);
  }

  /** The server works. */
  clear(): void {
    this.#failures = 0;
    this.#untilMs = 0;
  }

  async wait(signal: AbortSignal): Promise<void> {
    const leftMs = this.#untilMs - performance.now();
    if (leftMs > 0) await sleep(leftMs, undefined, { signal }).catch(() => {});
  }
}
