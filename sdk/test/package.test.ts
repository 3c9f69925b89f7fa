// The package as it is installed: readable, with names and source maps.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { describe, expect, test } from 'vitest';

// By its address: it is built only when the tests start, and has the types of the source.
const sdk = (await import(new URL('../dist/index.js', import.meta.url).href)) as typeof import('../src/index.ts');

const folder = fileURLToPath(new URL('..', import.meta.url));
const read = (file: string) => readFileSync(`${folder}${file}`, 'utf8');

const gzippedBytesMax = 18_000;
const minifiedGzippedBytesMax = 10_000;

describe('the module', () => {
  test('is not minified: classes and functions have their names, and comments are there', () => {
    expect([sdk.HomewardError, sdk.ConnectionError, sdk.WebhookError, sdk.createStore, sdk.verifyWebhook].map(({ name }) => name)).toEqual([
      'HomewardError',
      'ConnectionError',
      'WebhookError',
      'createStore',
      'verifyWebhook',
    ]);
    const lines = read('dist/index.js').split('\n');
    expect(lines.length).toBeGreaterThan(500);
    expect(lines).toContain('/** An error response from the store. Branch on `code`; `message` is for people. */');
  });

  test('has a source map with the sources in it', () => {
    expect(read('dist/index.js')).toMatch(/\n\/\/# sourceMappingURL=index\.js\.map\s*$/);
    const { sources, sourcesContent } = JSON.parse(read('dist/index.js.map')) as { sources: string[]; sourcesContent: string[] };
    expect(sources).toContain('../src/errors.ts');
    expect(sourcesContent[sources.indexOf('../src/errors.ts')]).toBe(read('src/errors.ts'));
    expect(sourcesContent.filter((text) => !text)).toEqual([]);
  });

  test('stays as small as the guide says, as it is and minified by a bundler', async () => {
    await using bundle = await rolldown({ input: `${folder}dist/index.js`, platform: 'neutral' });
    const { output } = await bundle.generate({ format: 'esm', minify: true });
    expect(gzipSync(read('dist/index.js'), { level: 9 }).length).toBeLessThanOrEqual(gzippedBytesMax);
    expect(gzipSync(output[0].code, { level: 9 }).length).toBeLessThanOrEqual(minifiedGzippedBytesMax);
    const [shipped, minified] = [gzippedBytesMax, minifiedGzippedBytesMax].map((bytes) => `${bytes / 1_000} kB`);
    expect(read('../docs/guides/sdk.md')).toContain(`at most ${shipped} gzipped, and ${minified} if your bundler minifies it`);
  });

  test('reads no variable in a form that a bundler replaces by its value', () => {
    expect(read('dist/index.js')).not.toMatch(/process\.env\.HOMEWARD|import\.meta\.env/);
  });
});

describe('the packed file', () => {
  test('has the module, its map, declarations and README.md, and nothing else', () => {
    const files = execFileSync('tar', ['-tzf', `${folder}sdk.tgz`], { encoding: 'utf8' })
      .trim()
      .split('\n')
      .sort();
    expect(files.filter((file) => !file.endsWith('.d.ts'))).toEqual([
      'package/README.md',
      'package/dist/index.js',
      'package/dist/index.js.map',
      'package/package.json',
    ]);
    expect(files).toContain('package/dist/index.d.ts');
  });
});
