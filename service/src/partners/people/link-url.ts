import type { LinkKind } from './links.ts';

/** Where links lead: invitations, and links to sign in. */
export const linkPaths: Readonly<Record<LinkKind, string>> = { sign_in: '/link/:token', invitation: '/invitation/:token' };

export const linkUrl = (consoleUrl: string, kind: LinkKind, token: string): string => consoleUrl + linkPaths[kind].replace(':token', token);
