import { AppError } from '../errors.ts';

/** How many photos a client may send at once, and all clients together, to one process. */
export const uploadsMax = 2;
const uploadsOfAllMax = 64;

/** Counts the uploads that are in progress in this process. A client is in the map exactly while one of its uploads is. */
export class UploadSlots {
  readonly #byClient = new Map<bigint, number>();
  #total = 0;

  /** Throws if there is no slot. The slot is free again once it is disposed of. */
  take(clientId: bigint): Disposable {
    const running = this.#byClient.get(clientId) ?? 0;
    if (running >= uploadsMax) {
      throw new AppError(
        'too_many_uploads',
        `This client is already sending ${running} photos; ${uploadsMax} at once are allowed. Retry in 1 s.`,
        { headers: { 'retry-after': '1' } },
      );
    }
    if (this.#total >= uploadsOfAllMax) {
      throw new AppError('unavailable', 'Too many photos are being sent at the moment. Retry in 1 s.', {
        cause: new Error(`${this.#total} uploads are in progress`),
        headers: { 'retry-after': '1' },
      });
    }
    this.#byClient.set(clientId, running + 1);
    this.#total += 1;
    return { [Symbol.dispose]: () => this.#free(clientId) };
  }

  #free(clientId: bigint): void {
    const left = (this.#byClient.get(clientId) ?? 1) - 1;
    if (left === 0) this.#byClient.delete(clientId);
    else this.#byClient.set(clientId, left);
    this.#total -= 1;
  }
}
