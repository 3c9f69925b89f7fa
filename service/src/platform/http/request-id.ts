import { randomBytes } from 'node:crypto';

const processId = randomBytes(6).toString('base64url');
let requests = 0;

/** The process's random id and a counter: a random id for each request would cost more than hashing its key. */
export const newRequestId = () => `req_${processId}${(requests++).toString(36).padStart(8, '0')}`;
