import type { AuditAuthor } from '../service/src/access/audit/audit.ts';

/** Who does what tests and proofs do as an operator, for the audit. */
export const testAuthor: AuditAuthor = { clientId: null, keyId: null, personId: null, origin: { login: 'test', host: 'testkit' } };
