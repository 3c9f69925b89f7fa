// Every code block in the guides is run or checked: each guide is run from top to bottom against a store.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { devAnimals } from '../../../tools/dev-animals.ts';
import { addPetToCategory, firstShelterId } from '../../src/animals/pets/pets.ts';
import { theService } from '../../src/domain/actor.ts';
import type { Clock } from '../../src/platform/clock.ts';
import { addPet, createManager, placeOrder } from '../adoption-steps.ts';
import { publishAll } from '../event-steps.ts';
import { addShelter, createShelterKey } from '../shelter-steps.ts';
import { createTestStore, type TestKey, type TestStore, type TestStoreOptions } from '../test-store.ts';
import { type Block, blockGroups, fencedBlocks } from './fenced-blocks.ts';
import { GuideRun, isProgram, python, withSetup } from './guide-run.ts';
import { type Sample, typeFaultsOf } from './sample-types.ts';
import { beginsAs, faultsOf, isResponse } from './shown-responses.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');
const guides = readdirSync(path.join(root, 'docs/guides'))
  .filter((name) => name.endsWith('.md'))
  .sort();

interface World {
  readonly prepare: (store: TestStore, key: TestKey) => Promise<void>;
  readonly options?: () => TestStoreOptions;
  readonly plan?: 'free';
  /** The key is of the staff of a second shelter, for which a partner has ordered an animal. */
  readonly ofShelter?: true;
  /** The guide also uses HOMEWARD_STAFF_KEY, a key of the store's staff. */
  readonly withStaff?: true;
}

/** The initial state of a guide, if it is not a store with the animals of `npm run dev`. */
const worlds: Readonly<Record<string, World>> = {
  'applications.md': { prepare: askQuestion, withStaff: true },
  'events.md': { prepare: reserveBiscuit },
  'webhooks.md': { prepare: requireVerification },
  'shelters.md': { prepare: addOrderedAnimal, ofShelter: true },
  'profiles.md': { prepare: bindToShelter },
  'rehearsal.md': {
    prepare: addAnimals,
    plan: 'free',
    options: () => ({ env: { HOMEWARD_ENVIRONMENT: 'staging' }, clock: clockEarlyInAMinute() }),
  },
};

/**
 * Blocks that are not run here, by their first words, and the test that runs them. It must name the guide, or another with the same
 * block.
 */
const checkedElsewhere: ReadonlyArray<{ guide: string; begins: string; by: string; why: string; sameIn?: string }> = [
  ...['mkdir listing', 'cat > listing.mjs', 'cat > order.mjs', 'Order 1 is placed.', 'ORDER='].map((begins) => ({
    guide: 'quickstart.md',
    begins,
    by: 'proofs/quickstart/quickstart.ts',
    why: 'it is one session of a shell, with a package to install and a server that keeps running',
  })),
  {
    guide: 'sdk.md',
    begins: 'npm install',
    by: 'proofs/quickstart/quickstart.ts',
    why: 'it is part of the quickstart',
    sameIn: 'quickstart.md',
  },
  { guide: 'sdk.md', begins: 'HomewardError: ', by: 'sdk/test/printing.test.ts', why: 'a stack follows it' },
  { guide: 'sdk.md', begins: 'for await (const event of', by: 'service/test/docs/event-guide.test.ts', why: 'it has no end' },
  { guide: 'events.md', begins: 'import { existsSync', by: 'service/test/docs/event-guide.test.ts', why: 'it has no end' },
  { guide: 'events.md', begins: 'import os\nimport time', by: 'service/test/docs/event-guide.test.ts', why: 'it has no end' },
  { guide: 'events.md', begins: 'import json\nimport time', by: 'service/test/docs/event-guide.test.ts', why: 'it has no end' },
  { guide: 'events.md', begins: '[\n  {"id":"evt_7"', by: 'service/test/console/undo.test.ts', why: 'it needs a person in the console' },
  { guide: 'events.md', begins: 'const changes = ', by: 'service/test/docs/event-guide.test.ts', why: 'it has no end' },
  {
    guide: 'sdk.md',
    begins: 'import { createServer }',
    by: 'service/test/docs/webhook-guide.test.ts',
    why: 'it needs a worker that sends',
  },
  { guide: 'webhooks.md', begins: 'import { create', by: 'service/test/docs/webhook-guide.test.ts', why: 'it needs a worker that sends' },
  { guide: 'webhooks.md', begins: 'import base64', by: 'service/test/docs/webhook-guide.test.ts', why: 'it needs a worker that sends' },
  { guide: 'limits.md', begins: 'HTTP/1.1', by: 'service/test/docs/limit-guide.test.ts', why: 'it shows one instant on a clock' },
  ...['{"code":"invalid_rehearsal"', '{"code":"api_key_banned"', '{"code":"unavailable"'].map((begins) => ({
    guide: 'rehearsal.md',
    begins,
    by: 'service/test/docs/rehearsal-guide.test.ts',
    why: 'the guide gives the header but not the whole command',
  })),
  {
    guide: 'stability.md',
    begins: '{"code":"operation_removed"',
    by: 'service/test/docs/stability-guide.test.ts',
    why: 'it is the response in 2030',
  },
  { guide: 'applications.md', begins: 'stateDiagram', by: 'service/test/docs/document-tables.test.ts', why: 'it is a diagram' },
  { guide: 'orders.md', begins: 'stateDiagram', by: 'service/test/docs/document-tables.test.ts', why: 'it is a diagram' },
];

/** Each guide is followed once in each language that it has: every step in that language, or in the first one that the step has. */
const readings = guides.flatMap((guide) => {
  const groups = blockGroups(read(`docs/guides/${guide}`));
  const inTabs = groups.flatMap((group) => (group.length > 1 ? group.map(({ language }) => language) : []));
  return [...new Set(['sh', ...inTabs])].map((language) => ({
    guide,
    language,
    blocks: groups.flatMap((group) => group.find((block) => block.language === language) ?? group[0] ?? []),
  }));
});

describe.each(readings)('docs/guides/$guide in $language', ({ guide, language, blocks }) => {
  const { prepare, plan, ofShelter, withStaff, options = () => ({}) }: World = worlds[guide] ?? { prepare: addAnimals };
  let store: TestStore;
  let run: GuideRun;
  /**
   * The last command and its output. The output is undefined once the guide has shown it, so that a further response is of a second
   * run.
   */
  let last: { block: Block; output: string | undefined } | undefined;

  beforeAll(async () => {
    store = await createTestStore(options());
    const key = ofShelter ? await createShelterKey(store, await addShelter(store)) : await store.createKey(plan ? { plan } : {});
    await prepare(store, key);
    const staffKey = withStaff && (await createManager(store)).key;
    run = new GuideRun({ HOMEWARD_URL: store.url, HOMEWARD_KEY: key.key, ...(staffKey && { HOMEWARD_STAFF_KEY: staffKey }) });
  });
  afterAll(async () => {
    run[Symbol.dispose]();
    await store[Symbol.asyncDispose]();
  });

  test('starts with its title, and has the language of each block', () => {
    expect(read(`docs/guides/${guide}`)).toMatch(/^# \S/);
    expect(blocks.filter(({ language }) => language === '')).toEqual([]);
  });

  const cases = blocks.map((block, i) => ({ name: `${block.language}: ${block.text.split('\n', 1)[0]}`, block, next: blocks[i + 1] }));
  test.each(cases)('$name', async ({ block, next }) => {
    expect(await faultsAt(block, next)).toEqual([]);
  });

  async function faultsAt(block: Block, next: Block | undefined): Promise<string[]> {
    const elsewhere = checkedElsewhere.find((one) => one.guide === guide && block.text.startsWith(one.begins));
    if (elsewhere) return faultsOfReference(elsewhere, block);
    if (isExport(block) || (block.language === 'py' && !python)) return [];
    // The responses are those to the commands, which the reading in `sh` compares.
    if (language !== 'sh' && isResponse(block)) return [];
    const output = block.language === 'sh' || isProgram(block) || block.language === 'py' ? await outputOf(block, next) : undefined;
    if (block.language === 'sh') last = { block, output };
    if (output !== undefined) return [];
    if (!isResponse(block) || !last) return ['nothing looks at it'];
    const response = last.output ?? (await outputOf(last.block, block));
    last = { block: last.block, output: undefined };
    return isEndless(last.block) ? [] : faultsOf(block, response);
  }

  const outputOf = (block: Block, response: Block | undefined): Promise<string> =>
    isEndless(block) && response ? run.doUntil(block, (output) => beginsAs(response, output)) : run.do(withSetup(block, blocks));
});

test("the programs in the guides and in the SDK's README.md match its types", async () => {
  const documents = [...guides.map((guide) => `docs/guides/${guide}`), 'sdk/README.md'];
  const samples = documents.flatMap((file) =>
    fencedBlocks(read(file)).flatMap((block, i) => samplesOf(block, `${path.parse(file).name}-${i + 1}`)),
  );
  expect(samples.length).toBeGreaterThan(15);
  expect(await typeFaultsOf(samples)).toEqual([]);
});

test('a program that uses something unknown to the SDK is detected', async () => {
  const block = { language: 'js', text: 'await store.pets.adopt(1);\n' };
  expect(await typeFaultsOf([{ name: 'wrong', block }])).toEqual([expect.stringContaining("Property 'adopt' does not exist")]);
});

test('README.md has commands and their responses, which commands.test.ts checks', () => {
  const languages = fencedBlocks(read('README.md')).map(({ language }) => language);
  expect(languages.filter((language, i) => language !== 'sh' && !(language === 'json' && languages[i - 1] === 'sh'))).toEqual([]);
});

function faultsOfReference({ guide, by, sameIn = guide }: (typeof checkedElsewhere)[number], block: Block): string[] {
  if (!read(by).includes(sameIn)) return [`${by} does not look at ${sameIn}`];
  return read(`docs/guides/${sameIn}`).includes(block.text) ? [] : [`${sameIn} does not have it`];
}

/** The exports of the reader's address and key, which the environment already has. */
const isExport = ({ language, text }: Block) =>
  language === 'sh' && /^export HOMEWARD_URL=http\S+\nexport HOMEWARD_KEY=hw_\w+_…\n$/.test(text);

const isEndless = ({ language, text }: Block) => language === 'sh' && /\bcurl -N\b/.test(text);

/** A program, or the programs that a command writes. */
function samplesOf(block: Block, name: string): Sample[] {
  if (isProgram(block)) return [{ name, block }];
  const written = [...block.text.matchAll(/^cat > [\w-]+\.mjs <<'EOF'\n(.*?)^EOF$/gms)];
  return block.language === 'sh' ? written.map(([, text = ''], i) => ({ name: `${name}-${i + 1}`, block: { language: 'js', text } })) : [];
}

/** A simulated limit lasts 3 s, or as long as the minute. */
function clockEarlyInAMinute(): Clock {
  const aheadMs = 60_000 - (Date.now() % 60_000);
  return { now: () => Date.now() + aheadMs };
}

async function askQuestion(store: TestStore): Promise<void> {
  await addAnimals(store);
  const questions = [{ id: 'garden', text: 'Do you have a garden?', type: 'yes_no', required: true }];
  const { key } = await createManager(store);
  const { status, text } = await store.call('PUT', '/v1/shelters/1/questions', { key, body: { questions } });
  if (status !== 200) throw new Error(`the questions were not stored: ${text}`);
}

async function addOrderedAnimal(store: TestStore, key: TestKey): Promise<void> {
  await addAnimals(store);
  await placeOrder(store, await store.createKey(), (await addPet(store, key)).id);
}

async function addAnimals(store: TestStore): Promise<void> {
  const { catalogue } = store.dependencies;
  for (const { categoryId, ...animal } of devAnimals().slice(0, 30)) {
    await addPetToCategory(catalogue, { ...animal, categoryId: BigInt(categoryId) }, theService, {
      shelterId: firstShelterId,
    });
  }
  await publishAll(store);
}

async function reserveBiscuit(store: TestStore, key: TestKey): Promise<void> {
  const { id } = await addPet(store, key);
  await placeOrder(store, key, id);
  await publishAll(store);
}

/** What the store's staff do when they create the key. */
async function bindToShelter(store: TestStore, key: TestKey): Promise<void> {
  await store.write('update api_keys set shelter_id = 1 where id = $1', key.id);
  await addAnimals(store);
}

/** In other tests endpoints are verified from the start. */
async function requireVerification(store: TestStore): Promise<void> {
  await store.asOwner('alter table webhooks alter column verified_at drop default');
  await addAnimals(store);
}
