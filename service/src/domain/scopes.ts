export const scopes = ['pets:read', 'pets:write', 'orders:read', 'orders:write', 'webhooks:manage', 'store:manage'] as const;
export type Scope = (typeof scopes)[number];

/** All except the scope of the store's staff, so that a client which uses only the documented interface never gets a 403. */
export const defaultScopes: readonly Scope[] = scopes.filter((scope) => scope !== 'store:manage');

export const isScope = (text: string): text is Scope => (scopes as readonly string[]).includes(text);
