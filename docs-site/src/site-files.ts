import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { guides } from './guides.ts';

/** The source files of the site. */
export interface SiteFiles {
  /** Markdown by the guide's slug. */
  readonly guides: ReadonlyMap<string, string>;
  readonly changelog: string;
  readonly style: string;
  readonly tryIt: string;
  readonly icon: string;
}

/** `root` is the root folder of the repository. */
export function readSiteFiles(root = new URL('../../', import.meta.url)): SiteFiles {
  const asset = (name: string) => read(new URL(`docs-site/assets/${name}`, root));
  return {
    guides: new Map(guides.map(({ slug }) => [slug, read(new URL(`docs/guides/${slug}.md`, root))])),
    changelog: read(new URL('CHANGELOG.md', root)),
    style: asset('style.css'),
    tryIt: asset('try-it.js'),
    icon: asset('icon.svg'),
  };
}

function read(file: URL): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new Error(`The documentation needs ${fileURLToPath(file)}, which cannot be read.`, { cause: error });
  }
}
