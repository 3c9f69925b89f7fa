// The examples for Next.js, Vite and Astro, as a partner would try them: installed with the store's own SDK, built, started, visited.
// And the SDK in Cloudflare's runtime and in Deno.
import path from 'node:path';
import { replaceOnce } from '../../testkit/mutant.ts';
import { Store } from '../../testkit/store.ts';
import { temporaryFolder } from '../../testkit/temporary-folder.ts';
import { ensureBuilt } from '../../tools/build.ts';
import type { Claim, Proof, ProofContext } from '../proof.ts';
import { addShownAnimals, trickyText } from '../shown-animals.ts';
import { ExampleSite, type RunningExample } from './example-site.ts';
import { nodesClaim } from './node-versions.ts';
import { proveRuntimes } from './runtimes.ts';

const examples = [
  { name: 'Next.js', folder: 'nextjs' },
  { name: 'Vite', folder: 'vite' },
  { name: 'Astro', folder: 'astro' },
] as const;

/** Of the examples. */
const pageSize = 24;
/** Each example orders one of those with a photo; the tricky one is not ordered. */
const animals = { count: 30, pictured: 4 };
const statusWords = { available: 'Needs a home', pending: 'Not available now', sold: 'Has found a home' } as const;

interface Animal {
  readonly id: number;
  readonly name: string;
  readonly status: keyof typeof statusWords;
}

interface Partner {
  readonly url: string;
  readonly key: string;
}

export const frameworks: Proof = {
  name: 'frameworks',
  promise:
    "the examples for Next.js, Vite and Astro install, build and list a store's animals with photos, with the key on the server, and start on each supported Node.js; the SDK runs in Deno and Cloudflare's runtime",
  hasMutant: true,
  isNightly: true,
  about: examples.map(({ folder }) => `examples/${folder}`),
  run,
};

async function run({ mutant, progress }: ProofContext): Promise<Claim[]> {
  progress('starting a store with animals');
  await ensureBuilt();
  using photos = temporaryFolder('photos');
  await using store = await Store.open({ processes: 1, env: { HOMEWARD_PHOTOS: photos.path } });
  store.work();
  const { key } = await store.createKey('Happy Tails', 'business');
  const partner = { url: store.processes[0]?.url.replace(/\/v1$/, '') ?? '', key };
  await addShownAnimals(partner, animals);
  using sites = new DisposableStack();
  // The mutant is only in the fastest of them.
  const chosen = examples
    .filter(({ name }) => !mutant || name === 'Vite')
    .map(({ name, folder }) => ({ name, site: sites.use(new ExampleSite(folder)) }));
  if (mutant) for (const { site } of chosen) leakKey(site);
  progress('installing');
  const install = ['npm', 'install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', `${partner.url}/sdk.tgz`];
  const installSeconds = await Promise.all(chosen.map(({ site }) => site.run(...install)));
  progress("Cloudflare's runtime and Deno");
  const claims = mutant ? [] : await proveRuntimes(partner, await namesOfAvailable(partner));
  for (const [i, { name, site }] of chosen.entries()) {
    progress(`${name}: building`);
    const buildSeconds = await site.run('npm', 'run', 'build');
    progress(`${name}: visiting`);
    const running = await site.start({ HOMEWARD_URL: partner.url, HOMEWARD_KEY: partner.key });
    try {
      const took = `installed in ${installSeconds[i]?.toFixed(0)} s, built in ${buildSeconds.toFixed(0)} s`;
      claims.push(await listingClaim(name, running, partner, took));
      claims.push(await photosClaim(name, running));
      claims.push(await detailsClaim(name, running, partner));
      claims.push(await keyClaim(name, site, running, partner));
    } finally {
      await running.close();
    }
    if (mutant) continue;
    progress(`${name}: on other versions of Node.js`);
    claims.push(...(await nodesClaim(name, site, { HOMEWARD_URL: partner.url, HOMEWARD_KEY: partner.key })));
  }
  return claims;
}

/** The mutant's page contains the key. */
function leakKey({ folder }: ExampleSite): void {
  const title = '<h1>Waiting for a home</h1>';
  replaceOnce(path.join(folder, 'src/render.ts'), title, `${title}<!--\${process.env['HOMEWARD_KEY']}-->`);
}

/** Follows the list to its end, as a visitor does by its links. */
async function listingClaim(framework: string, { url }: RunningExample, partner: Partner, took: string): Promise<Claim> {
  const shown: Animal[] = [];
  let pages = 0;
  for (let next: string | undefined = '/'; next !== undefined && pages < animals.count; pages += 1) {
    const html = await (await fetch(url + next)).text();
    shown.push(...animalsIn(html));
    next = /href="(\/\?cursor=[^"]+)"/.exec(html)?.[1];
  }
  const expected = await animalsOf(partner);
  return {
    claim: `${framework}: the example, installed with the store's SDK and built, lists every animal with name, status and link, names escaped`,
    bar: `${animals.count} of ${animals.count}, on 2 pages`,
    figure: `${shown.length} of ${expected.length}, on ${pages} pages; ${took}`,
    holds: expected.length === animals.count && pages === 2 && textOf(shown) === textOf(expected),
  };
}

/** What a browser needs of a photo: files to choose from that load, a text, and a colour until then. */
async function photosClaim(framework: string, { url }: RunningExample): Promise<Claim> {
  const html = await (await fetch(url)).text();
  // A value in quotes may contain a ">".
  const photos = [...html.matchAll(/<img(?:[^>"]|"[^"]*")*>/g)].map(([tag]) => unescapeHtml(tag));
  const files = photos.map((tag) => /\ssrcset="(\S+) 320w, (\S+) 800w/i.exec(tag)?.slice(1) ?? []);
  const loaded = await Promise.all(files.map(async ([file = 'http://127.0.0.1:9']) => (await fetch(file)).headers.get('content-type')));
  const isWhole = (tag: string) => /\salt="[^"]+/.test(tag) && /\sstyle="background-color: ?#[\da-f]{6}/.test(tag);
  const whole = photos.filter((tag, i) => isWhole(tag) && loaded[i] === 'image/webp').length;
  const without = html.match(/class="photo"[^>]*>No photo yet</g)?.length ?? 0;
  const isEscaped = photos.some((tag) => tag.includes(trickyText)) && !html.replaceAll(/"[^"]*"/g, '').includes('<b>Zoe');
  return {
    claim: `${framework}: photos that load, with a text, files of several widths and a colour, and animals without one on the first page`,
    bar: `${animals.pictured} and ${pageSize - animals.pictured}, escaped`,
    figure: `${whole} and ${without}${isEscaped ? ', escaped' : ''}`,
    holds: whole === animals.pictured && without === pageSize - animals.pictured && isEscaped,
  };
}

/** After an order, both pages show the new status: nothing is of the time of the build. */
async function detailsClaim(framework: string, { url }: RunningExample, partner: Partner): Promise<Claim> {
  const animal = (await animalsOf(partner)).find(({ status, name }) => status === 'available' && name !== trickyText);
  const adopter = { name: 'Ada Lovelace', email: 'ada@example.org' };
  await call(partner, '/v1/store/orders', { petId: animal?.id, adopter });
  const [list, details, none] = await Promise.all(['/', `/pets/${animal?.id}`, '/pets/999999'].map((target) => fetch(url + target)));
  const listed = animalsIn((await list?.text()) ?? '').find(({ id }) => id === animal?.id)?.status;
  const html = unescapeHtml((await details?.text()) ?? '');
  const isShown = [animal?.name ?? '?', statusWords.pending, 'Loves long walks.'].every((text) => html.includes(text));
  return {
    claim: `${framework}: an animal that was just ordered, in the list and on its own page; an animal that does not exist`,
    bar: 'pending, pending, 404',
    figure: `${listed}, ${isShown ? 'pending' : `${details?.status} without it`}, ${none?.status}`,
    holds: listed === 'pending' && isShown && none?.status === 404,
  };
}

async function keyClaim(framework: string, site: ExampleSite, { url, output }: RunningExample, { key }: Partner): Promise<Claim> {
  const html = await (await fetch(url)).text();
  const files = site.filesWith(key);
  const places = [...(html.includes(key) ? ['the page'] : []), ...(output().includes(key) ? ['its output'] : []), ...files];
  return {
    claim: `${framework}: the key in pages, in files of the build and in the output of the site`,
    bar: 'nowhere',
    figure: places.join(', ') || 'nowhere',
    holds: places.length === 0,
  };
}

function animalsIn(html: string): Animal[] {
  return [...html.matchAll(/<li[^>]*class="card"[^>]*>(.*?)<\/li>/gs)].map(([, card = '']) => {
    const id = Number(/href="\/pets\/(\d+)"/.exec(card)?.[1]);
    const words = /<span[^>]*class="status[^>]*>(.*?)<\/span>/s.exec(card)?.[1];
    const status = (['available', 'pending', 'sold'] as const).find((one) => statusWords[one] === words);
    return { id, name: unescapeHtml(/<h2[^>]*>\s*<a[^>]*>(.*?)<\/a>/s.exec(card)?.[1] ?? ''), status: status ?? 'sold' };
  });
}

const textOf = (animals: readonly Animal[]) => animals.map(({ id, name, status }) => `${id} ${name} ${status}`).join('\n');

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"' };
const unescapeHtml = (text: string) =>
  text
    .replace(/<!-- -->/g, '')
    .replace(/&(?:#x([0-9a-f]+)|#(\d+)|(\w+));/gi, (_, hex?: string, decimal?: string, name = '') =>
      hex || decimal ? String.fromCodePoint(hex ? Number.parseInt(hex, 16) : Number(decimal)) : (entities[name] ?? name),
    );

async function animalsOf(partner: Partner): Promise<Animal[]> {
  const response = await call(partner, '/v1/listings?limit=100');
  return ((await response.json()) as Array<{ pet: Animal }>).map(({ pet }) => pet);
}

async function namesOfAvailable(partner: Partner): Promise<string[]> {
  const response = await call(partner, '/v1/pets?status=available');
  return ((await response.json()) as Animal[]).map(({ name }) => name);
}

const call = ({ url, key }: Partner, target: string, body?: object): Promise<Response> =>
  fetch(url + target, {
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  });
