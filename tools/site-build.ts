// Renders the documentation to docs-site/dist, which a store serves at /docs.
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import type { ApiDocument } from '../docs-site/src/reference-document.ts';
import { searchEngineScript } from '../docs-site/src/search-box.ts';
import { siteContents } from '../docs-site/src/site.ts';
import { readSiteFiles } from '../docs-site/src/site-files.ts';
import { changedAtMs } from './file-times.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const site = path.join(root, 'docs-site');
const dist = path.join(site, 'dist');
const sources = [
  'docs-site/{src,assets,examples}/**',
  'docs/guides/**',
  'CHANGELOG.md',
  'openapi.json',
  'service/src/platform/{errors.ts,html.ts,design-tokens.css}',
  'service/src/domain/*.ts',
  'service/src/platform/http/openapi.ts',
];

/** Writes to another folder first and swaps the two, so that a service that starts meanwhile never reads half of a site. */
export async function buildSite(): Promise<void> {
  const document = JSON.parse(readFileSync(path.join(root, 'openapi.json'), 'utf8')) as ApiDocument;
  const [fresh, old] = [`${dist}-new-${process.pid}`, `${dist}-old-${process.pid}`];
  try {
    const contents = siteContents(readSiteFiles(), document);
    const searchEngine = await bundleSearchEngine();
    for (const [name, make] of [...contents, [searchEngineScript, () => searchEngine] as const]) {
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
export async function ensureSite(): Promise<void> {
  const newest = Math.max(...globSync(sources, { cwd: root }).map((file) => changedAtMs(path.join(root, file))));
  if (changedAtMs(dist) < newest) await buildSite();
}

/** One module for browsers, with MiniSearch. */
async function bundleSearchEngine(): Promise<string> {
  await using build = await rolldown({ input: path.join(site, 'src/search-engine.ts'), platform: 'browser' });
  const banner = '/* Includes MiniSearch, copyright 2022 Luca Ongaro, MIT licence. */';
  const { output } = await build.generate({ format: 'esm', minify: true, comments: false, postBanner: banner });
  return output[0].code;
}
