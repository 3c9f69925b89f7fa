import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { guides } from './guides.ts';

/** The source files of the site. */
export interface SiteFiles {
  /** Markdown by the guide's slug. */
  readonly guides: ReadonlyMap<string, string>;
  readonly changelog: string;
  /** By their name below /docs/assets. */
  readonly assets: ReadonlyMap<string, Buffer>;
  readonly favicon: Buffer;
}

const styles = ['service/src/platform/design-tokens.css', 'docs-site/assets/style.css', 'docs-site/assets/search.css'];
const assets = [
  'early.js',
  'page.js',
  'search.js',
  'try-it.js',
  'icon.svg',
  'biscuit.webp',
  'fonts/figtree.woff2',
  'fonts/jetbrains-mono.woff2',
];

/** `root` is the root folder of the repository. */
export function readSiteFiles(root = new URL('../../', import.meta.url)): SiteFiles {
  const asset = (name: string) => read(new URL(`docs-site/assets/${name}`, root));
  const text = (name: string) => read(new URL(name, root)).toString('utf8');
  return {
    guides: new Map(guides.map(({ slug }) => [slug, text(`docs/guides/${slug}.md`)])),
    changelog: text('CHANGELOG.md'),
    assets: new Map([
      ...assets.map((name) => [path.basename(name), asset(name)] as const),
      ...pictures(new URL('docs/guides/assets/', root)),
      // One file for the browser.
      ['style.css', Buffer.concat(styles.map((name) => read(new URL(name, root))))],
    ]),
    favicon: asset('favicon.ico'),
  };
}

/** Of the guides. */
const pictures = (folder: URL) => readdirSync(folder).map((name) => [name, read(new URL(name, folder))] as const);

function read(file: URL): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new Error(`The documentation needs ${fileURLToPath(file)}, which cannot be read.`, { cause: error });
  }
}
