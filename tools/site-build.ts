// Renders the documentation to docs-site/dist, which a store serves at /docs.
import { globSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ApiDocument } from '../docs-site/src/reference-document.ts';
import { siteContents } from '../docs-site/src/site.ts';
import { readSiteFiles } from '../docs-site/src/site-files.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const site = path.join(root, 'docs-site');
const dist = path.join(site, 'dist');
const sources = [
  'docs-site/{src,assets}/**',
  'docs/guides/*.md',
  'CHANGELOG.md',
  'openapi.json',
  'service/src/errors.ts',
  'service/src/domain/*.ts',
  'service/src/http/openapi-components.ts',
];

/** Writes to a temporary folder first, so that a service that starts meanwhile never reads an incomplete site. */
export function buildSite(): void {
  const document = JSON.parse(readFileSync(path.join(root, 'openapi.json'), 'utf8')) as ApiDocument;
  const folder = mkdtempSync(path.join(site, 'dist-'));
  for (const [name, make] of siteContents(readSiteFiles(), document)) {
    const { type, text } = make();
    const file = path.join(folder, type.startsWith('text/html') ? `${name}.html` : name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  rmSync(dist, { recursive: true, force: true });
  renameSync(folder, dist);
}

/** Builds it if a source was changed since the last build. */
export function ensureSite(): void {
  const changedAtMs = (file: string) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const newest = Math.max(...globSync(sources, { cwd: root }).map((file) => changedAtMs(path.join(root, file))));
  if (changedAtMs(dist) < newest) buildSite();
}
