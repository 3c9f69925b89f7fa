export const scopes = [
  'pets:read',
  'pets:write',
  'orders:read',
  'orders:write',
  'webhooks:manage',
  'shelter:manage',
  'store:manage',
] as const;
export type Scope = (typeof scopes)[number];

/** The scopes of staff: of the whole store, and of one shelter. An operation with both needs one of them. */
export const staffScopes = ['store:manage', 'shelter:manage'] as const satisfies readonly Scope[];

/** All except the scopes of staff, so that a client which uses only the documented interface never gets a 403. */
export const defaultScopes: readonly Scope[] = scopes.filter((scope) => !(staffScopes as readonly Scope[]).includes(scope));

export const isScope = (text: string): text is Scope => (scopes as readonly string[]).includes(text);
