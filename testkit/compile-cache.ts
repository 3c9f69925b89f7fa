import { fileURLToPath } from 'node:url';

/**
 * Where Node.js keeps what it has compiled (NODE_COMPILE_CACHE), so that a process that a test or a proof starts is up in
 * half the time. Node.js compares each entry with the source, so nothing here is ever out of date.
 */
export const compileCache = fileURLToPath(new URL('../node_modules/.cache/node-compile', import.meta.url));
