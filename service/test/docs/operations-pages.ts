// The pages of docs/operations, for tests that compare them with the program.
import { readdirSync, readFileSync } from 'node:fs';

const root = new URL('../../../', import.meta.url);

/** Their paths from the root of the repository. */
export const operationsPages = readdirSync(new URL('docs/operations/', root)).map((name) => `docs/operations/${name}`);

/** All of them as one text. */
export const operations = operationsPages.map((page) => readFileSync(new URL(page, root), 'utf8')).join('\n');
