// Follows the quickstart as a reader does: takes the page that a store serves and pastes its commands into a terminal.

import { freePort } from '../../testkit/servers.ts';
import { Store } from '../../testkit/store.ts';
import { temporaryFolder } from '../../testkit/temporary-folder.ts';
import { ensureBuilt } from '../../tools/build.ts';
import type { Claim, Proof, ProofContext } from '../proof.ts';
import { addShownAnimals, trickyText } from '../shown-animals.ts';
import { Terminal } from './terminal.ts';

const secondsMax = 300;
const listingTimeoutMs = 20_000;
const animals = { count: 30, pictured: 2 };
/** Nothing listens here: a reader needs the store and no package registry. */
const noRegistry = 'http://127.0.0.1:9';
const placeholder = /^export HOMEWARD_URL=\S+\nexport HOMEWARD_KEY=hw_live_…\n$/;

export const quickstart: Proof = {
  name: 'quickstart',
  promise: 'the quickstart, pasted from the page unchanged, leads from a key to a running listing with photos within five minutes',
  hasMutant: true,
  isNightly: true,
  about: ['docs/guides', 'docs-site', 'sdk', 'proofs/quickstart'],
  run,
};

interface Partner {
  readonly url: string;
  readonly key: string;
}

interface Listing {
  readonly status: number;
  readonly html: string;
}

/** What the reader saw. */
interface Session {
  readonly blockCount: number;
  readonly failures: readonly string[];
  readonly printed: string;
  /** Undefined if it never ran. */
  readonly listing: (Listing & { readonly afterSeconds: number }) | undefined;
  /** The status of the ordered animal and the listing after the order was placed. */
  readonly ordered: { readonly status: string; readonly listing: Listing | undefined };
}

async function run({ mutant, progress }: ProofContext): Promise<Claim[]> {
  progress('starting a store with animals');
  await ensureBuilt();
  using photos = temporaryFolder('photos');
  await using store = await Store.open({ processes: 1, env: { HOMEWARD_PHOTOS: photos.path } });
  store.work();
  const { key } = await store.createKey('Happy Tails', 'pro');
  const partner = { url: store.processes[0]?.url.replace(/\/v1$/, '') ?? '', key };
  await addShownAnimals(partner, animals);
  const blocks = blocksOf(await readPage(partner.url), mutant);
  const names = await newestOf(partner);
  const session = await follow(blocks, partner, progress);
  return [
    commandsClaim(session),
    listingClaim(session, names),
    await photosClaim(session, partner),
    orderClaim(session),
    timeClaim(session),
  ];
}

async function readPage(url: string): Promise<string> {
  const response = await fetch(`${url}/docs/quickstart.md`);
  if (!response.ok) throw new Error(`/docs/quickstart.md is ${response.status}`);
  return response.text();
}

/** The page's blocks of commands. The mutant's page imports a function that the package does not export. */
function blocksOf(page: string, mutant: boolean): string[] {
  const blocks = [...page.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, text = '']) => text);
  if (blocks.filter((block) => placeholder.test(block)).length !== 1)
    throw new Error('the page must have exactly one block that sets the address and the key');
  if (mutant && !page.includes('createStore')) throw new Error('the mutant replaces createStore, but the page does not contain it');
  return mutant ? blocks.map((block) => block.replaceAll('createStore', 'openStore')) : blocks;
}

/** Pastes the blocks; only the address and the key are replaced. */
async function follow(blocks: readonly string[], partner: Partner, progress: (text: string) => void): Promise<Session> {
  using terminal = new Terminal({ PORT: String(await freePort()), npm_config_registry: noRegistry });
  const startedAtMs = performance.now();
  let listing: Session['listing'];
  let ordered: Session['ordered'] = { status: 'never ordered', listing: undefined };
  for (const [i, block] of blocks.entries()) {
    progress(`block ${i + 1} of ${blocks.length}`);
    await terminal.paste(placeholder.test(block) ? `export HOMEWARD_URL=${partner.url}\nexport HOMEWARD_KEY=${partner.key}\n` : block);
    if (/^node listing\.mjs &$/m.test(block)) {
      const opened = await openListing(terminal);
      listing = opened && { ...opened, afterSeconds: (performance.now() - startedAtMs) / 1_000 };
    }
    if (/^node order\.mjs /m.test(block)) {
      ordered = { status: await statusOf(partner, animals.count), listing: listing && (await openListing(terminal)) };
    }
  }
  return { blockCount: blocks.length, failures: terminal.failures, printed: terminal.output, listing, ordered };
}

/** Loads the address that the page's program prints; undefined if it prints none in time or does not respond. */
async function openListing(terminal: Terminal): Promise<Listing | undefined> {
  const deadlineMs = Date.now() + listingTimeoutMs;
  while (Date.now() < deadlineMs && !terminal.output.includes('SyntaxError')) {
    const [address] = /^http:\/\/127\.0\.0\.1:\d+$/m.exec(terminal.output) ?? [];
    const response = address ? await fetch(address).catch(() => undefined) : undefined;
    if (response) return { status: response.status, html: await response.text() };
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return undefined;
}

const commandsClaim = ({ blockCount, failures }: Session): Claim => ({
  claim: 'Every command of the page, unchanged, ends with status 0, without a package registry',
  bar: 'none fails',
  figure: failures.length === 0 ? `${blockCount} blocks of commands, none failed` : `failed: ${failures.join('; ')}`,
  holds: failures.length === 0 && blockCount > 5,
});

function listingClaim({ listing }: Session, names: readonly string[]): Claim {
  const shown = [...(listing?.html ?? '').matchAll(/<h2>(.*?)<\/h2>/g)].map(([, name = '']) => unescapeHtml(name));
  const isEscaped = listing !== undefined && !listing.html.includes('<b>Zoe');
  return {
    claim: "The page's listing shows the store's available animals, with names, breeds and texts escaped",
    bar: `200, the newest ${names.length} names, escaped`,
    figure: `${listing?.status ?? 'no response'}, ${shown.length} names${isEscaped ? ', escaped' : ''}`,
    holds: listing?.status === 200 && names.length > 0 && names.join() === shown.join() && isEscaped,
  };
}

/** The photos are loaded as a browser does. */
async function photosClaim({ listing }: Session, { key }: Partner): Promise<Claim> {
  const { html = '' } = listing ?? {};
  const photos = [...html.matchAll(/<img src="([^"]+)" alt="([^"]*)" style="background:(#[\da-f]{6})">/g)];
  const types = await Promise.all(photos.map(async ([, src = '']) => (await fetch(unescapeHtml(src))).headers.get('content-type')));
  const texts = photos.map(([, , alt = '']) => unescapeHtml(alt));
  const loaded = types.filter((type) => type === 'image/webp').length;
  return {
    claim: 'Its photos load, each with its text and its colour, and the key is not in the page',
    bar: `${animals.pictured} photos, without the key`,
    figure: `${loaded} photos, ${html.includes(key) ? 'with' : 'without'} the key`,
    holds: loaded === animals.pictured && photos.length === loaded && texts.includes(trickyText) && !html.includes(key),
  };
}

function orderClaim({ printed, ordered: { status, listing } }: Session): Claim {
  const [, name = ''] =
    /^Order 1 is placed\.\n(.+) \(id \d+\) is pending\. Only an available animal can be ordered\.$/m.exec(printed) ?? [];
  const isGone = listing?.status === 200 && !listing.html.includes(`<h2>${name}</h2>`);
  return {
    claim: "Of two orders for one animal, the page's program places one; the animal is pending and leaves the listing",
    bar: 'placed, then rejected; pending; not listed',
    figure: `${name ? 'placed, then rejected' : 'printed something else'}; ${status}; ${isGone ? 'not listed' : 'listed, or no page'}`,
    holds: name !== '' && status === 'pending' && isGone,
  };
}

const timeClaim = ({ listing }: Session): Claim => ({
  claim: 'From the first command to the running listing, without reading time',
  bar: `${secondsMax} s at most`,
  figure: listing ? `${listing.afterSeconds.toFixed(1)} s` : 'it never ran',
  holds: listing !== undefined && listing.afterSeconds <= secondsMax,
  isTimed: listing !== undefined,
});

const unescapeHtml = (text: string) => text.replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)));

async function newestOf(partner: Partner): Promise<string[]> {
  const response = await call(partner, '/v1/listings?status=available&limit=24');
  return ((await response.json()) as Array<{ pet: { name: string } }>).map(({ pet }) => pet.name);
}

async function statusOf(partner: Partner, id: number): Promise<string> {
  const response = await call(partner, `/v1/pets?id=${id}`);
  return ((await response.json()) as Array<{ status: string }>)[0]?.status ?? 'absent';
}

const call = ({ url, key }: Partner, target: string): Promise<Response> =>
  fetch(url + target, { headers: { authorization: `Bearer ${key}` } });
