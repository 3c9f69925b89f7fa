import { hostname, userInfo } from 'node:os';
import { rightsOf } from '../domain/roles.ts';
import type { AuditAuthor } from '../partners/audit/audit.ts';
import type { Manager } from '../partners/people/people.ts';

const lengthMax = 200;

/** Who runs this command, as the audit records it: the login and the host. PostgreSQL's login is the store's own. */
export const commandAuthor = (): AuditAuthor => ({
  clientId: null,
  keyId: null,
  personId: null,
  origin: { login: loginName().slice(0, lengthMax), host: hostname().slice(0, lengthMax) },
});

/** A command may do what an admin of the store may. */
export const commandManager = (): Manager => ({ ...commandAuthor(), shelterId: null, acts: rightsOf('admin', null)?.acts ?? [] });

/** In a container the user may have no name. */
function loginName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? '?'}`;
  }
}
