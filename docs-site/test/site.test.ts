import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { applicationActions, applicationStatuses } from '../../service/src/domain/application-states.ts';
import { orderActions, orderStatuses } from '../../service/src/domain/order-states.ts';
import { type ErrorCode, errorCodes } from '../../service/src/platform/errors.ts';
import { helpLink } from '../../service/src/platform/http/error-handler.ts';
import { inlineComponents } from '../../service/src/platform/http/openapi-components.ts';
import { createTestStore, type TestStore } from '../../service/test/test-store.ts';
import { guideGroups, guides } from '../src/guides.ts';
import { readSiteFiles } from '../src/site-files.ts';

const root = new URL('../../', import.meta.url);
const policy =
  "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; font-src 'self'; img-src 'self' data:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'";
const pagesMax = 300;

let store: TestStore;
/** Every page that is reachable from the start page, by its path. */
const pages = new Map<string, string>();
beforeAll(async () => {
  store = await createTestStore();
  await walk(['/docs']);
});
afterAll(() => store[Symbol.asyncDispose]());

const get = (path: string, headers: Record<string, string> = {}) => store.call('GET', path, { headers });
const decoded = (text: string) => text.replaceAll(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code))).replaceAll('<wbr>', '');
/** Without the elements around the tokens of code. */
const readable = (text: string) => decoded(text.replaceAll(/<pre.*?<\/pre>/gs, (code) => code.replaceAll(/<\/?span[^>]*>/g, '')));
const attributes = (text: string, name: string) =>
  [...text.matchAll(new RegExp(` ${name}="([^"]*)"`, 'g'))].map(([, value = '']) => readable(value));

async function walk(paths: string[]): Promise<void> {
  for (const path of paths) {
    if (pages.has(path) || pages.size > pagesMax) continue;
    const { status, headers, text } = await get(path);
    if (status === 308) continue;
    expect({ path, status }).toEqual({ path, status: 200 });
    if (!headers['content-type']?.startsWith('text/html')) continue;
    pages.set(path, text);
    await walk(attributes(text, 'href').flatMap((href) => (href.startsWith('/') ? [href.split('#', 1)[0] ?? ''] : [])));
  }
}

describe('Every page', () => {
  test('is reachable from the start page: guides, reference, errors and changelog', () => {
    const expected = [
      '/docs',
      '/docs/changelog',
      '/docs/errors',
      ...Object.keys(errorCodes).map((code) => `/docs/errors/${code}`),
      ...guides.map(({ slug }) => `/docs/${slug}`),
      ...[
        '',
        '/pets',
        '/shelters',
        '/profiles',
        '/listings',
        '/photos',
        '/categories',
        '/events',
        '/orders',
        '/applications',
        '/webhooks',
        '/usage',
        '/event-types',
      ].map((part) => `/docs/reference${part}`),
    ];
    expect([...pages.keys()].sort()).toEqual(expected.sort());
  });

  test('links only to existing pages and sections', () => {
    const dead = [...pages].flatMap(([path, text]) => {
      const local = attributes(text, 'href').filter((href) => /^[^:]*#/.test(href));
      return local.filter((href) => {
        const [page = '', id = ''] = href.split('#');
        return !attributes(pages.get(page || path) ?? '', 'id').includes(id);
      });
    });
    expect(dead).toEqual([]);
  });

  test('loads nothing from other origins, and has no inline style or script', () => {
    const faulty = [...pages].filter(([, text]) => {
      const linked = [...text.matchAll(/<link [^>]*href="([^"]*)"/g)].map(([, href = '']) => href);
      const loaded = [...attributes(text, 'src'), ...attributes(text, 'srcset'), ...linked];
      const withoutCode = text.replaceAll(/<pre.*?<\/pre>/gs, '');
      return (
        loaded.some((url) => !url.startsWith('/docs/assets/')) ||
        /<style|<script>|<script type="module">| style=| on\w+="/.test(withoutCode)
      );
    });
    expect(faulty.map(([path]) => path)).toEqual([]);
  });

  test('has one h1, a title, a description, and unique ids', () => {
    const faulty = [...pages].filter(([, text]) => {
      const ids = attributes(text, 'id');
      const hasHead = /<title>[^<]+<\/title>\n<meta name="description" content="[^"]+">/.test(text);
      return text.match(/<h1/g)?.length !== 1 || !hasHead || ids.length !== new Set(ids).size;
    });
    expect(faulty.map(([path]) => path)).toEqual([]);
  });

  test('needs no key, has no limit, and may be cached for 5 minutes', async () => {
    const { headers } = await get('/docs/orders');
    expect(headers).toMatchObject({
      'content-security-policy': policy,
      'x-content-type-options': 'nosniff',
      'cache-control': 'public, max-age=300',
      'content-type': 'text/html; charset=utf-8',
    });
    expect(headers['x-ratelimit-limit']).toBeUndefined();
  });

  test('is 304 with its ETag', async () => {
    const { etag = '' } = (await get('/docs')).headers;
    expect(await get('/docs', { 'if-none-match': etag })).toMatchObject({ status: 304, text: '' });
    expect((await get('/docs', { 'if-none-match': '"other"' })).status).toBe(200);
  });

  test('is compressed for clients that accept it', async () => {
    const response = await fetch(`${store.url}/docs`, { headers: { 'accept-encoding': 'gzip' } });
    expect(response.headers.get('content-encoding')).toBe('gzip');
    expect(await response.text()).toBe(pages.get('/docs'));
  });
});

test('The start page shows a listing with a photo, an order, and the event that follows', () => {
  const text = readable(pages.get('/docs') ?? '');
  for (const words of [
    '/v1/listings?q=labrador',
    '"alt": "Biscuit in the grass"',
    '/v1/store/orders',
    '"status": "placed"',
    'pet.status_changed',
  ])
    expect(text).toContain(words);
  expect(text).toContain('<img src="/docs/assets/biscuit.webp" width="480" height="360" alt="Biscuit in the grass">');
});

describe('Code', () => {
  const blocks = () =>
    [...pages.values()].flatMap((text) => [...text.matchAll(/<figure class="code.*?<\/figure>/gs)].map(([block]) => block));

  test('can be copied, every block of it', () => {
    expect(blocks().length).toBeGreaterThan(150);
    expect(blocks().filter((block) => block.match(/<button [^>]*data-copy/g)?.length !== 1)).toEqual([]);
  });

  test('is highlighted, unless it is the output of a command', () => {
    const plain = blocks().filter((block) => !block.includes('<span class="t-'));
    expect(plain.filter((block) => !block.includes('data-language="text"') && !block.includes('data-language=""'))).toEqual([]);
  });

  test('has all the text that the guide has', () => {
    const markdown = readFileSync(new URL('docs/guides/webhooks.md', root), 'utf8');
    const written = [...markdown.matchAll(/^```\w+\n(.*?)\n```$/gms)].map(([, code = '']) => code.trimEnd());
    const shown = [...(pages.get('/docs/webhooks') ?? '').matchAll(/<pre[^>]*><code>(.*?)<\/code><\/pre>/gs)].map(([pre]) =>
      readable(pre).replaceAll(/^<pre[^>]*><code>|<\/code><\/pre>$/g, ''),
    );
    expect(written.length).toBeGreaterThan(3);
    expect(shown).toEqual(expect.arrayContaining(written));
  });
});

describe('A guide', () => {
  test('is in the same group in the navigation, on the start page, in llms.txt and in README.md', async () => {
    const [start, llms, readme] = [
      pages.get('/docs') ?? '',
      (await get('/llms.txt')).text,
      readFileSync(new URL('README.md', root), 'utf8'),
    ];
    for (const { title, guides } of guideGroups) {
      const links = guides.map(({ slug, title }) => `<li><a href="/docs/${slug}">${title.replaceAll("'", '&#39;')}</a></li>`).join('');
      expect(start).toContain(`<p class="part">${title}</p>\n<ul>${links}</ul>`);
      const [, section = ''] = start.split(new RegExp(`<h2 id="[a-z-]+">${title}</h2>`));
      const cards = attributes(section.split('<h2', 1)[0] ?? '', 'href');
      expect(cards).toEqual(guides.map(({ slug }) => `/docs/${slug}`));
      expect(llms).toContain(`## ${title}\n\n${guides.map(({ slug, title }) => `- [${title}](/docs/${slug}.md): `)[0]}`);
      expect(readme).toContain(`- **${title}**: ${guides.map(({ slug, title }) => `[${title}](docs/guides/${slug}.md)`).join(', ')}\n`);
    }
  });

  test('is in the table if and only if its file is in docs/guides', () => {
    const files = readdirSync(new URL('docs/guides/', root)).flatMap((name) => (name.endsWith('.md') ? name.slice(0, -3) : []));
    expect(guides.map(({ slug }) => slug).sort()).toEqual(files.sort());
  });

  test.each(guides.map(({ slug }) => slug))('%s is also served as Markdown', async (slug) => {
    const { headers, text } = await get(`/docs/${slug}.md`);
    expect(headers['content-type']).toBe('text/markdown; charset=utf-8');
    expect(text).toBe(readFileSync(new URL(`docs/guides/${slug}.md`, root), 'utf8'));
  });

  test('links to the others on the site as on a code host', () => {
    expect(pages.get('/docs/webhooks')).toContain('<a href="/docs/events">');
  });

  test.each([...guides.map(({ slug }) => `/docs/${slug}.md`), '/docs/changelog.md'])('%s links only to what is served', async (path) => {
    const links = [...(await get(path)).text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, href = '']) => new URL(href, `http://store${path}`));
    const served = links.filter(({ host }) => host === 'store');
    const statuses = await Promise.all(served.map(async ({ pathname }) => ({ pathname, status: (await get(pathname)).status })));
    expect(statuses.filter(({ status }) => status !== 200)).toEqual([]);
  });

  test('shows pictures in their size, with words for people who do not see them, each of which is used', () => {
    const files = readdirSync(new URL('docs/guides/assets/', root));
    const shown = [
      ...(pages.get('/docs/first-day') ?? '').matchAll(/<img src="\/docs\/assets\/([^"]+)" width="(\d+)" height="(\d+)" alt="[^"]{20,}"/g),
    ];
    expect(shown.map(([, name]) => name).sort()).toEqual(files.sort());
    for (const [, name = '', width, height] of shown) {
      const bytes = readFileSync(new URL(`docs/guides/assets/${name}`, root));
      expect([name, bytes.length < 80_000]).toEqual([name, true]);
      // A lossy WebP has its size here.
      const ratio = (bytes.readUInt16LE(28) & 0x3fff) / (bytes.readUInt16LE(26) & 0x3fff);
      expect(Number(height) / Number(width)).toBeCloseTo(ratio, 2);
    }
  });

  test('links from an error code to its page', () => {
    expect(pages.get('/docs/orders')).toContain('<a href="/docs/errors/pet_not_available"><code>pet_not_available</code></a>');
  });

  test('has drawings instead of the diagrams of orders and applications, made from the states, and no other diagram', () => {
    expect([...pages.values()].filter((text) => text.includes('mermaid'))).toEqual([]);
    const drawings = [...pages].filter(([, text]) => text.includes('<figure class="diagram"'));
    expect(drawings.map(([path]) => path).sort()).toEqual(['/docs/applications', '/docs/orders']);
    for (const word of [...orderStatuses, ...Object.keys(orderActions)]) expect(pages.get('/docs/orders')).toContain(`>${word}</text>`);
    for (const word of [...applicationStatuses, ...Object.keys(applicationActions)]) {
      expect(pages.get('/docs/applications')).toContain(`>${word}</text>`);
    }
  });

  test('that is missing stops the build and is named', () => {
    expect(() => readSiteFiles(new URL('file:///nowhere/'))).toThrow('The documentation needs /nowhere/docs/guides/');
  });
});

describe('The reference', () => {
  interface Operation {
    readonly operationId: string;
    readonly summary: string;
    readonly parameters?: Array<{ name: string; description: string }>;
    readonly responses: Record<string, { content?: { 'application/json'?: { examples?: object } } }>;
  }
  let operations: Array<Operation & { method: string; path: string; section: string }>;
  beforeAll(async () => {
    const { json } = await store.call<{ paths: Record<string, Record<string, Operation & { tags: [string] }>> }>('GET', '/openapi.json');
    operations = Object.entries(inlineComponents(json, json.paths)).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, one]) => {
        const page = pages.get(`/docs/reference/${one.tags[0].toLowerCase()}`) ?? '';
        const section = page.split('<section').find((text) => text.includes(`<h2 id="${one.operationId}"`)) ?? '';
        return { ...one, method: method.toUpperCase(), path, section: readable(section) };
      }),
    );
  });

  test('has every operation with its path, its parameters, its error codes and a form to try it', () => {
    expect(operations.length).toBeGreaterThan(20);
    for (const { section, summary, method, path, parameters = [], responses } of operations) {
      const codes = Object.values(responses).flatMap(({ content }) => Object.keys(content?.['application/json']?.examples ?? {}));
      expect(codes).toContain('api_key_missing');
      expect(section).toContain(`${summary}</a></h2>`);
      expect(section).toContain(`<code class="path">/v1${path}</code>`);
      expect(section).toContain(`data-method="${method}" data-path="/v1${path}"`);
      // At the top, not folded, with a value in every required field.
      expect(section.indexOf('<h3>Try it</h3>')).toBeLessThan(section.indexOf('<h3>Responses</h3>'));
      expect(section).not.toMatch(/<details[^>]*>(?:(?!<\/details>).)*<form/s);
      expect(section).not.toMatch(/ required value=""/);
      for (const { name, description } of parameters) expect(section).toMatch(new RegExp(`<code>${name}</code>.*${escaped(description)}`));
      for (const code of codes) expect(section).toContain(`<a href="/docs/errors/${code}">`);
    }
  });

  test('shows deprecations with their date, beta, experimental, and the required scope', () => {
    const sectionOf = (id: string) => operations.find(({ operationId }) => operationId === id)?.section;
    expect(sectionOf('getPet')).toContain('Deprecated · removed on 5 December 2030');
    expect(sectionOf('placeOrder')).toContain('>beta</a>');
    expect(sectionOf('listEvents')).toContain('>experimental</a>');
    expect(sectionOf('createPet')).toContain('Scope pets:write');
    expect(sectionOf('createPet')).not.toMatch(/>(beta|experimental)<|Deprecated/);
  });

  test('shows nested fields with dots, with their type and constraints', () => {
    const text = operations.find(({ operationId }) => operationId === 'placeOrder')?.section ?? '';
    expect(text).toMatch(
      /<code>adopter.email<\/code><span class="type">string<\/span><span class="required">required<\/span>.*An e-mail address of at most 254 characters, such as ada@example\.org\./,
    );
  });

  test('lists the event types', async () => {
    const { json } = await store.call<{ webhooks: object }>('GET', '/openapi.json');
    for (const type of Object.keys(json.webhooks)) expect(pages.get('/docs/reference/event-types')).toContain(`<tr id="${type}">`);
  });

  test('asks for the key once on a page', () => {
    const sections = [...pages].filter(([path]) => /^\/docs\/reference\/(?!event-types)/.test(path));
    for (const [, text] of sections) expect(text.match(/type="password"/g)?.length).toBe(1);
  });

  test('fills the forms with bodies that the store accepts', async () => {
    const { key } = await store.createKey();
    const bodies = new Map(operations.map(({ operationId, section }) => [operationId, /<textarea[^>]*>([^<]*)</.exec(section)?.[1]]));
    const sent = [
      ['createPet', '/v1/pets'],
      ['placeOrder', '/v1/store/orders'],
      ['createWebhook', '/v1/webhooks'],
    ] as const;
    for (const [id, path] of sent)
      expect(await store.call('POST', path, { key, raw: bodies.get(id) ?? '' })).toMatchObject({ status: 201 });
  });
});

describe('The page of an error', () => {
  test.each(Object.keys(errorCodes) as ErrorCode[])(
    '%s is the target of its Link, and has status, cause, fix and example',
    async (code) => {
      const [, path = ''] = /^<([^>]+)>; rel="help"$/.exec(helpLink(code)) ?? [];
      const page = await get(path);
      const { status, cause, fix, request, message } = errorCodes[code];
      expect(page.status).toBe(200);
      const text = readable(page.text);
      for (const words of [
        `<h1><code>${code}</code></h1>`,
        `HTTP status ${status}`,
        cause,
        fix,
        request.split('\n')[0] ?? '',
        JSON.stringify(message),
      ]) {
        expect(text).toContain(words);
      }
    },
  );

  test('is in the list of all codes, below its status', () => {
    for (const code of Object.keys(errorCodes))
      expect(readable(pages.get('/docs/errors') ?? '')).toContain(`<a href="/docs/errors/${code}"><code>${code}</code></a>`);
  });
});

describe('A redirect or an unknown page', () => {
  test('/docs/ redirects to /docs', async () => {
    expect(await get('/docs/')).toMatchObject({ status: 308, headers: { location: '/docs' } });
  });

  test('/docs/deprecations redirects to the notice: the operation, its date and its replacement', async () => {
    const { status, headers } = await get('/docs/deprecations');
    const [path = '', id = ''] = headers.location?.split('#') ?? [];
    const [, section = ''] = (pages.get(path) ?? '').split(`id="${id}"`);
    expect(status).toBe(308);
    for (const words of ['GET /v1/pets/{petId}', '5 December 2030', '/v1/pets?id=']) expect(readable(section)).toContain(words);
  });

  test.each([
    'no-such-guide',
    'errors/no_such_code',
    'errors/toString',
    '__proto__',
    'errors/%3Cscript%3E',

    'orders/',
    'Orders.md',
  ])('/docs/%s is a 404 page in the same layout, and does not show the requested path', async (path) => {
    const { status, headers, text } = await get(`/docs/${path}`);
    expect({ status, policy: headers['content-security-policy'] }).toEqual({ status: 404, policy });
    expect(text).toContain('<h1>There is no such page</h1>');
    expect(text).not.toContain(decodeURIComponent(path.split('/').at(-1) || path));
  });
});

describe('/robots.txt and the icon', () => {
  test('let search engines list the documentation, and not the API', async () => {
    expect((await get('/robots.txt')).text).toBe('User-agent: *\nAllow: /docs\nDisallow: /v1\n');
  });

  test.each([
    ['/favicon.ico', 'image/x-icon'],
    ['/docs/assets/icon.svg', 'image/svg+xml'],
    ['/docs/assets/figtree.woff2', 'font/woff2'],
    ['/docs/assets/jetbrains-mono.woff2', 'font/woff2'],
  ])('%s is served as %s', async (path, type) => {
    expect(await get(path)).toMatchObject({ status: 200, headers: { 'content-type': type } });
  });
});

test('The fonts are smaller than 60 kB together', () => {
  const folder = new URL('docs-site/assets/fonts/', root);
  const fonts = readdirSync(folder).filter((name) => name.endsWith('.woff2'));
  const bytes = fonts.map((name) => readFileSync(new URL(name, folder)).length);
  expect(fonts.length).toBe(2);
  expect(bytes.reduce((sum, one) => sum + one)).toBeLessThan(60_000);
});

describe('/llms.txt', () => {
  test('links to the Markdown of every guide, the OpenAPI document and the errors, all of which exist', async () => {
    const { headers, text } = await get('/llms.txt');
    expect(headers['content-type']).toBe('text/plain; charset=utf-8');
    expect(text).toMatch(/^# Homeward\n\n> /);
    const links = [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, href = '']) => href);
    expect(links).toEqual(expect.arrayContaining([...guides.map(({ slug }) => `/docs/${slug}.md`), '/openapi.json', '/docs/errors']));
    for (const link of links) expect((await get(link)).status).toBe(200);
  });
});

const escaped = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
