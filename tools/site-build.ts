// Renders the documentation to docs-site/dist, which a store serves at /docs.
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ApiDocument } from '../docs-site/src/reference-document.ts';
import { siteContents } from '../docs-site/src/site.ts';
import { readSiteFiles } from '../docs-site/src/site-files.ts';
import { changedAtMs } from './file-times.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const site = path.join(root, 'docs-site');
const dist = path.join(site, 'dist');
const sources = [
  'docs-site/{src,assets,examples}/**',
  'docs/guides/*.md',
  'CHANGELOG.md',
  'openapi.json',
  'service/src/errors.ts',
  'service/src/domain/*.ts',
  'service/src/http/openapi-components.ts',
];

/** Writes to another folder first and swaps the two, so that a service that starts meanwhile never reads half of a site. */
export function buildSite(): void {
  const document = JSON.parse(readFileSync(path.join(root, 'openapi.json'), 'utf8')) as ApiDocument;
  const [fresh, old] = [`${dist}-new-${process.pid}`, `${dist}-old-${process.pid}`];
  try {
    for (const [name, make] of siteContents(readSiteFiles(), document)) {
      const file = path.join(fresh, path.extname(name) === '' ? `${name}.html` : name);
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, make());
    }
    if (existsSync(dist)) renameSync(dist, old);
    renameSync(fresh, dist);
  } finally {
    for (const folder of [fresh, old]) rmSync(folder, { recursive: true, force: true });
  }
}

/** Builds it if a source was changed since the last build. */
export function ensureSite(): void {
  const newest = Math.max(...globSync(sources, { cwd: root }).map((file) => changedAtMs(path.join(root, file))));
  if (changedAtMs(dist) < newest) buildSite();
}
