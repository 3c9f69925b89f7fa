import { randomBytes } from 'node:crypto';
import type { VersionOf } from '../../access/rate-limit/redis-limiter.ts';
import type { ListTokens } from '../../domain/caches.ts';
import type { ChangeWatch } from '../../platform/db/change-watch.ts';
import type { RedisKeys, RedisLink } from '../../platform/redis/redis-link.ts';
import {
  everything,
  type Footprint,
  type ListingFootprint,
  type PetChange,
  readChanges,
  readShownChanges,
  type ShownChange,
  touches,
  touchesListing,
} from './shown-changes.ts';

/** The entries that Redis keeps. A process that is further behind reads every page again. */
export const logLength = 256;
/** Read first: a busy process is seldom further behind. */
const recentLength = 8;
/** The last changes and tokens in the memory of a process. */
const changesMax = 2_000;
const tokensMax = 64;

interface Entry<Change> {
  readonly token: string;
  /** The token that this one has replaced. */
  readonly before: string;
  readonly changes: readonly Change[] | typeof everything;
}

/** What a log is of. */
export interface LogKind<Change, Rows> {
  /** Of the token and of the log in Redis. */
  keysOf(keys: RedisKeys): { readonly token: string; readonly log: string };
  read(text: string): readonly Change[] | typeof everything;
  /** Whether a page with this footprint may look different after the change. */
  touches(footprint: Rows, change: Change): boolean;
}

/** Changes of animals, which every list shows. */
export const petLog: LogKind<PetChange, Footprint> = {
  keysOf: ({ catalogueToken, catalogueLog }) => ({ token: catalogueToken, log: catalogueLog }),
  read: readChanges,
  touches,
};

/** Changes of what only listings show: profiles, photos and shelters. */
export const shownLog: LogKind<ShownChange, ListingFootprint> = {
  keysOf: ({ listingsToken, listingsLog }) => ({ token: listingsToken, log: listingsLog }),
  read: readShownChanges,
  touches: touchesListing,
};

/**
 * The version of cached pages. Both logs are read up to the tokens: a page of listings depends on both. A change that its writer could not
 * announce is found in PostgreSQL, and if a log can't be read, a snapshot of PostgreSQL is a version too.
 */
export function versionOfPages(
  changes: Pick<ChangeWatch, 'isTrusted' | 'trust' | 'look'>,
  animals: Pick<ChangeLog<PetChange, Footprint>, 'versionOf'>,
  shown: Pick<ChangeLog<ShownChange, ListingFootprint>, 'versionOf'>,
): VersionOf {
  const orSnapshot = async (version: number | undefined | Promise<number | undefined>) => {
    try {
      return (await version) ?? (await changes.look());
    } catch {
      return undefined;
    }
  };
  const readUpTo = ({ catalogue, listings }: ListTokens): number | Promise<number | undefined> => {
    const [version, shownVersion] = [animals.versionOf(catalogue), shown.versionOf(listings)];
    if (typeof version === 'number' && typeof shownVersion === 'number') return version;
    return Promise.all([version, shownVersion]).then(([ofAnimals, ofShown]) => (ofShown === undefined ? undefined : ofAnimals));
  };
  return (tokens) => {
    if (!changes.isTrusted) return orSnapshot(changes.trust().then(() => readUpTo(tokens)));
    const version = readUpTo(tokens);
    return typeof version === 'number' ? version : orSnapshot(version);
  };
}

/**
 * Follows changes of one kind that writers announce in Redis. Each announcement replaces a token and adds an entry to a log, which says
 * what has changed since the token before. The version counts the changes that this process has read.
 *
 * Invariants:
 * - `versionOf(token)` returns a version that includes every change announced up to that token. So a page whose query starts after
 *   that includes them, and may be cached under this version.
 * - The entries from `#token` to the newest are a chain: each has replaced the token of the one before. If an entry is missing, any
 *   page may have changed: the log was trimmed, or Redis has lost data. Then no page from before is valid.
 */
export class ChangeLog<Change, Rows> {
  readonly #link: RedisLink;
  readonly #kind: LogKind<Change, Rows>;
  readonly #keys: { readonly token: string; readonly log: string };
  #version = 0;
  /** Pages of earlier versions are not valid any more. */
  #validFrom = 0;
  /** The last changes, oldest first. The last one has made `#version`. */
  #changes: Change[] = [];
  /** The changes up to this token are part of the version. */
  #token: string | undefined;
  /** The last tokens that are part of the version. Replies of Redis can arrive out of order, so an earlier one may be asked for. */
  readonly #tokens = new Set<string>();
  #reading: Promise<void> | undefined;

  constructor(link: RedisLink, keys: RedisKeys, kind: LogKind<Change, Rows>) {
    this.#link = link;
    this.#kind = kind;
    this.#keys = kind.keysOf(keys);
  }

  get version(): number {
    return this.#version;
  }

  /** A number, unless the token is new: then the log is read. Undefined if there is no token yet, or Redis does not reply. */
  versionOf(token: string | undefined): number | undefined | Promise<number | undefined> {
    if (token === undefined) {
      this.#link.client.set(this.#keys.token, newToken(), 'NX').catch(() => {});
      return undefined;
    }
    return this.#tokens.has(token) ? this.#version : this.#readUpTo(token);
  }

  /** Whether a page that was valid at a version may look different now. */
  hasTouched(footprint: Rows, since: number): boolean {
    if (since < this.#validFrom) return true;
    for (let i = this.#changes.length - (this.#version - since); i < this.#changes.length; i += 1) {
      if (this.#kind.touches(footprint, this.#changes[i] as Change)) return true;
    }
    return false;
  }

  async #readUpTo(token: string): Promise<number | undefined> {
    try {
      // A read in flight may have been sent before the token was set.
      await this.#reading;
      if (this.#tokens.has(token)) return this.#version;
      this.#reading ??= this.#read().finally(() => {
        this.#reading = undefined;
      });
      await this.#reading;
    } catch {
      return undefined;
    }
    // It is not in the log.
    if (!this.#tokens.has(token)) this.#apply([{ token, before: '', changes: everything }]);
    return this.#version;
  }

  async #read(): Promise<void> {
    const recent = await this.#readEntries(recentLength);
    const news = this.#chain(recent) ?? this.#chain(recent.length < recentLength ? recent : await this.#readEntries(logLength));
    if (news) this.#apply(news);
  }

  async #readEntries(length: number): Promise<Array<Entry<Change>>> {
    const texts = await this.#link.call((client) => client.lrange(this.#keys.log, 0, length - 1));
    return texts.map((text) => this.#readEntry(text));
  }

  /** The entries after `#token`, oldest first; undefined if one is missing. */
  #chain(entries: ReadonlyArray<Entry<Change>>): Array<Entry<Change>> | undefined {
    const news: Array<Entry<Change>> = [];
    let token = entries[0]?.token;
    for (const entry of entries) {
      if (token === this.#token) break;
      if (entry.token !== token) return undefined;
      news.unshift(entry);
      token = entry.before;
    }
    return token === this.#token ? news : undefined;
  }

  #apply(entries: ReadonlyArray<Entry<Change>>): void {
    for (const { token, changes } of entries) {
      if (changes === everything) {
        this.#version += 1;
        this.#validFrom = this.#version;
        this.#changes = [];
      } else {
        this.#version += changes.length;
        this.#changes.push(...changes);
      }
      this.#token = token;
      this.#tokens.add(token);
    }
    // Not at each change, since removing the first ones moves all others.
    if (this.#changes.length > changesMax) {
      this.#changes = this.#changes.slice(-changesMax / 2);
      this.#validFrom = this.#version - this.#changes.length;
    }
    for (const oldest of this.#tokens) {
      if (this.#tokens.size <= tokensMax) break;
      this.#tokens.delete(oldest);
    }
  }

  #readEntry(text: string): Entry<Change> {
    const [token = '', before = ''] = text.split(' ', 2);
    return { token, before, changes: this.#kind.read(text.slice(token.length + before.length + 2)) };
  }
}

/** Random, not counted, so that a Redis that lost its data never issues an old token again. */
export const newToken = () => randomBytes(9).toString('base64url');
