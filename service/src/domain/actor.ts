import type { KeyRights } from './key-rights.ts';

/** Who has made a change, as it is recorded: a client with one of its keys, a person for a client, or the service itself. */
export interface Author {
  readonly clientId: bigint | null;
  readonly keyId: bigint | null;
  /** Who has made it in the console. */
  readonly personId: bigint | null;
}

/** Who makes a change, with what it may do. */
export interface Actor extends Author, KeyRights {}

/** It acts for the store's staff. */
export const theService: Actor = { clientId: null, keyId: null, personId: null, shelterId: null, scopes: ['store:manage'] };
