import type { LinkKind } from './links.ts';

/** Where links lead: invitations, links to sign in, and those by which people take up more rights. Proxies keep these paths out of their logs. */
export const linkPaths: Readonly<Record<LinkKind, string>> = {
  sign_in: '/link/:token',
  invitation: '/invitation/:token',
  raise: '/link/new-role/:token',
};

export const linkUrl = (consoleUrl: string, kind: LinkKind, token: string): string => consoleUrl + linkPaths[kind].replace(':token', token);
