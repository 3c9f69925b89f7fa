import type { KeyRights } from './key-rights.ts';

/** Who has made a change, as it is recorded: a client with one of its keys, a person for a client, or the service itself. */
export interface Author {
  readonly clientId: bigint | null;
  readonly keyId: bigint | null;
  /** Who has made it in the console. */
  readonly personId: bigint | null;
}

/**
 * By whose right a transaction acts: that of a key, of a person's session, or of a link. It is read again in the transaction, so that what
 * has ended can't act in one that begins later.
 */
export interface Authority {
  /** An expression of SQL: null while it holds, else a word that says why not. It is written into a statement as it is. */
  readonly ended: string;
  error(why: string): Error;
}

/** Who acts, as far as a transaction must know. */
export interface Acting {
  /** In whose turn; null: the store's own. */
  readonly clientId: bigint | null;
  /** Null: the service itself, which nothing ends. */
  readonly authority: Authority | null;
}

/** Who makes a change, with what it may do. */
export interface Actor extends Author, KeyRights, Acting {}

/** It acts for the store's staff: commands, and the worker. */
export const theService: Actor = {
  clientId: null,
  keyId: null,
  personId: null,
  shelterId: null,
  scopes: ['store:manage'],
  authority: null,
};
