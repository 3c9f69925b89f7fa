import { fileURLToPath } from 'node:url';

/**
 * The folder of Node.js's compile cache (NODE_COMPILE_CACHE). It halves the startup time of the processes that tests and
 * proofs start. Node.js compares each entry with its source, so an entry is never stale.
 */
export const compileCache = fileURLToPath(new URL('../node_modules/.cache/node-compile', import.meta.url));
