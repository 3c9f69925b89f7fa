import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ownRoot = fileURLToPath(new URL('..', import.meta.url));

/**
 * The folder of Node.js's compile cache (NODE_COMPILE_CACHE). It halves the startup time of the processes that tests and
 * proofs start. Node.js compares each entry with its source, so an entry is never stale.
 */
export const compileCache = path.join(ownRoot, 'node_modules/.cache/node-compile');

/** The same for processes that run from another source tree, such as a mutant's: it is deleted with the tree. */
export const compileCacheOf = (root: string | undefined): string =>
  root === undefined || path.resolve(root) === path.resolve(ownRoot) ? compileCache : path.join(root, 'compiled');
