import type { RedisKeys } from '../../platform/redis/redis-keys.ts';
import type { RedisLink } from '../../platform/redis/redis-link.ts';
import { type ChangeLog, newToken } from './change-log.ts';
import type { ListingFootprint } from './pet-changes.ts';

/**
 * Counts the changes that cached pages of listings depend on: those of animals, which the log of changes counts, and those of the
 * token of listings. Each request brings the token, read after its arrival. So a page that was read at a version, and is not touched
 * by a change up to the version of a later request, includes every change that was announced before that request.
 *
 * Invariant: `version` is the version of the log plus the tokens seen. Since `#validFrom` no token was seen, so from a version since
 * then the version of the log follows: only such pages are compared with the changes of the log.
 */
export class ListingChanges {
  readonly #link: RedisLink;
  readonly #keys: RedisKeys;
  readonly #changeLog: Pick<ChangeLog, 'version' | 'hasTouched'>;
  #token: string | undefined;
  #tokensSeen = 0;
  /** Pages of earlier versions are not valid any more: a profile, a photo or a shelter has changed. */
  #validFrom = 0;

  constructor(link: RedisLink, keys: RedisKeys, changeLog: Pick<ChangeLog, 'version' | 'hasTouched'>) {
    this.#link = link;
    this.#keys = keys;
    this.#changeLog = changeLog;
  }

  /** The token as a request has read it. Undefined: there is none, so nothing is known of changes. */
  observe(token: string | undefined): void {
    if (token === undefined) this.#link.client.set(this.#keys.listingsToken, newToken(), 'NX').catch(() => {});
    else if (token === this.#token) return;
    this.#token = token;
    this.#tokensSeen += 1;
    this.#validFrom = this.version;
  }

  get version(): number {
    return this.#changeLog.version + this.#tokensSeen;
  }

  hasTouched(footprint: ListingFootprint, since: number): boolean {
    if (since < this.#validFrom) return true;
    return footprint.some((animals) => this.#changeLog.hasTouched(animals, since - this.#tokensSeen));
  }
}
