import { hash, randomBytes } from 'node:crypto';

/** 256 random bits: that of a session or of a link. Only its hash is stored. */
export const mintToken = (): string => randomBytes(32).toString('base64url');

const shape = /^[\w-]{43}$/;

/** Undefined: it can't be a token, so that nothing is looked up. */
export const hashToken = (token: string): Buffer | undefined => (shape.test(token) ? hash('sha256', token, 'buffer') : undefined);
