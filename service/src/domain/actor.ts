/** Who makes a change: a client with one of its keys, or the service itself. */
export interface Actor {
  readonly clientId: bigint | null;
  readonly keyId: bigint | null;
}

export const theService: Actor = { clientId: null, keyId: null };
