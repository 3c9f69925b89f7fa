// Plays the scenario on a new store, with the requests of one language as the reference shows them.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { GuideRun } from '../../../service/test/docs/guide-run.ts';
import { readResponse } from '../../../service/test/docs/shown-responses.ts';
import { makeImage } from '../../../service/test/photo-steps.ts';
import type { Example, ExampleRequest, ExampleResponse, Sample } from '../../src/examples/example.ts';
import { requestsOf, setupExample } from '../../src/examples/operation-examples.ts';
import { sdkCallOf } from '../../src/examples/sdk-calls.ts';
import { storeAddress } from '../../src/examples/store-address.ts';
import { type ApiDocument, operationsOf } from '../../src/reference-document.ts';
import { isShown, type ShownStep, scenario } from './scenario.ts';
import { Timeline } from './timeline.ts';
import { createWorld, type World } from './world.ts';

type Language = Sample['language'];

/** Headers that only some responses have. The reference explains the others once. */
const isoTime = /\d{4}-\d\d-\d\dT\d\d:/;
const shownHeaders = ['location', 'link', 'etag', 'deprecation', 'sunset'];

export interface Played {
  readonly examples: Readonly<Record<string, Example>>;
  /** The first event of each type in the feed. */
  readonly events: Readonly<Record<string, unknown>>;
}

/** With curl, examples have the whole response; with other languages only its body. */
export async function playScenario(document: ApiDocument, language: Language): Promise<Played> {
  await using world = await createWorld();
  const timeline = new Timeline();
  const examples: Record<string, Example> = {};
  const urls = { HOMEWARD_URL: world.store.url };
  using ofPartner = new GuideRun({ ...urls, HOMEWARD_KEY: world.partner.key });
  using ofStaff = new GuideRun({ ...urls, HOMEWARD_KEY: world.staff.key });
  for (const { folder } of [ofPartner, ofStaff]) writeFileSync(path.join(folder, 'biscuit.jpg'), await makeImage('peru'));
  for (const step of scenario) {
    await timeline.begin(step.at);
    if (!isShown(step)) {
      await step.prepare(world);
      continue;
    }
    const request = requestOf(document, step);
    const run = step.by === 'staff' ? ofStaff : ofPartner;
    const response = await send(request, language, run, world).catch((error: unknown) => {
      throw new Error(`${step.operationId} in ${language} failed`, { cause: error });
    });
    examples[step.operationId] = { request, response: retold(response, timeline) };
  }
  return { examples, events: await firstEvents(world, timeline) };
}

function retold({ status, headers, ...rest }: ExampleResponse, timeline: Timeline): ExampleResponse {
  const text = timeline.retell(JSON.stringify(rest));
  const others = Object.entries(headers).map(([name, value]) => [name, timeline.retell(value)]);
  // An ETag is a hash of the body, so with other times it would be another one.
  const etag = headers['etag'] !== undefined &&
    isoTime.test(text) && { etag: `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"` };
  return { status, headers: { ...Object.fromEntries(others), ...etag }, ...JSON.parse(text) };
}

/** The method, the path and whether it takes an idempotency key are in the OpenAPI document. */
function requestOf(document: ApiDocument, { operationId, parameters = {}, query = {}, body, file }: ShownStep): ExampleRequest {
  const operation = operationsOf(document).find((one) => one.operationId === operationId);
  if (!operation) throw new Error(`There is no operation ${operationId}.`);
  return {
    operationId,
    method: operation.method,
    path: operation.path,
    parameters,
    query,
    // The same bytes are the same photo, so a photo needs no key.
    hasIdempotencyKey: file === undefined && (operation.parameters?.some(({ name }) => name === 'idempotency-key') ?? false),
    ...(body !== undefined && { body }),
    ...(file !== undefined && { file }),
  };
}

async function send(request: ExampleRequest, language: Language, run: GuideRun, { store }: World): Promise<ExampleResponse> {
  const code = (blocks: readonly Sample[]) =>
    (blocks.find((block) => block.language === language)?.code ?? '').replaceAll(storeAddress, store.url);
  const shown = code(requestsOf(request));
  if (language === 'sh') return sendByCurl(shown, run);
  const { result } = sdkCallOf(request.operationId);
  const text = [...before[language], code(setupExample()), shown, ...(result ? [print[language](result)] : [])].join('\n');
  const output = await run.do({ language, text });
  return { status: 0, headers: {}, ...(output !== '' && { body: JSON.parse(output) }) };
}

/** The SDK warns about the deprecated operation. */
const before = { ts: ['console.warn = () => {};'], py: [] };

const print = {
  ts: (result: string) => `process.stdout.write(JSON.stringify(${result}));`,
  py: (result: string) => `import json\nprint(json.dumps(${result}))`,
};

async function sendByCurl(command: string, run: GuideRun): Promise<ExampleResponse> {
  const file = path.join(run.folder, 'headers.txt');
  writeFileSync(path.join(run.folder, '.curlrc'), `silent\nshow-error\ndump-header = "${file}"\n`);
  const output = await run.do({ language: 'sh', text: command });
  const { status, headers } = readResponse(readFileSync(file, 'utf8'));
  return {
    status: Number(status.split(' ')[1]),
    headers: Object.fromEntries(shownHeaders.flatMap((name) => (headers.has(name) ? [[name, headers.get(name) ?? '']] : []))),
    ...(output !== '' && { body: JSON.parse(output) }),
  };
}

async function firstEvents({ store, partner }: World, timeline: Timeline): Promise<Record<string, unknown>> {
  const { text } = await store.call('GET', '/v1/events?limit=100', { key: partner.key });
  const events = JSON.parse(timeline.retell(text)) as Array<{ type: string }>;
  const first: Record<string, unknown> = {};
  for (const event of events) first[event.type] ??= event;
  return first;
}
