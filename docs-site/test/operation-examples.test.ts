// The examples of the reference are what a running store returns to the shown requests. `npm run examples` records them.
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { orderActions } from '../../service/src/domain/order-states.ts';
import { type Html, html } from '../../service/src/platform/html.ts';
import { python } from '../../service/test/docs/guide-run.ts';
import { typeFaultsOf } from '../../service/test/docs/sample-types.ts';
import { tabLabelOf } from '../src/code-tabs.ts';
import { findEventExample, findOperationExample, type OperationExample, setupExample } from '../src/examples/operation-examples.ts';
import { operationSamples } from '../src/operation-section.ts';
import { type ApiDocument, isSuccess, operationsOf } from '../src/reference-document.ts';
import { type Played, playScenario } from './examples/scenario-run.ts';

const document = JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8')) as ApiDocument;
const operations = operationsOf(document);
const ids = operations.map(({ operationId }) => operationId);
const timeoutMs = 120_000;
const hint = "run 'npm run examples' if this change is intended";

let byCurl: Played;
beforeAll(async () => {
  byCurl = await playScenario(document, 'sh');
}, timeoutMs);

function exampleOf(operationId: string): OperationExample {
  const example = findOperationExample(operationId);
  if (!example) throw new Error(`There is no example of ${operationId}. Add it to the scenario, and run 'npm run examples'.`);
  return example;
}

/** What a reader sees of it. */
const textOf = ({ text }: Html) => text.replaceAll(/<[^>]+>/g, '').replaceAll(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)));

const written = (value: unknown) => `${JSON.stringify(value, undefined, 2)}\n`;
const bodiesOf = ({ examples }: Played) => Object.entries(examples).map(([id, { response }]) => [id, response.body]);

describe('The examples of the reference', () => {
  test('are what the shown curl commands return', async () => {
    await expect(written(byCurl.examples)).toMatchFileSnapshot('../examples/operations.json', hint);
  });

  test('of events are those in the feed', async () => {
    await expect(written(byCurl.events)).toMatchFileSnapshot('../examples/events.json', hint);
  });

  test('have the bodies that the shown calls of the SDK return', { timeout: timeoutMs }, async () => {
    expect(bodiesOf(await playScenario(document, 'ts'))).toEqual(bodiesOf(byCurl));
  });

  test.skipIf(!python)('have the bodies that the shown programs in Python return', { timeout: timeoutMs }, async () => {
    expect(bodiesOf(await playScenario(document, 'py'))).toEqual(bodiesOf(byCurl));
  });

  test("match the SDK's types, with what the page imports once", { timeout: timeoutMs }, async () => {
    const code = (id: string) => [...setupExample(), ...exampleOf(id).requests].filter(({ language }) => language === 'ts');
    const samples = ids.map((name) => ({
      name,
      block: {
        language: 'ts',
        text: code(name)
          .map((block) => block.code)
          .join('\n'),
      },
    }));
    expect(await typeFaultsOf(samples)).toEqual([]);
  });

  test('cover every operation in three languages, with a documented successful status', () => {
    for (const { operationId, responses } of operations) {
      const { requests, response } = exampleOf(operationId);
      expect(requests.map(({ language }) => tabLabelOf(language))).toEqual(['curl', 'TypeScript', 'Python']);
      expect(Object.keys(responses).filter(isSuccess)).toContain(String(response.status));
    }
  });

  test('are what the pages show', () => {
    for (const operation of operations) {
      const { requests, response } = exampleOf(operation.operationId);
      const shown = textOf(html`${operationSamples(operation)}`);
      for (const { code } of requests) expect(shown).toContain(code);
      expect(shown).toContain(response.body === undefined ? `Returns ${response.status}` : JSON.stringify(response.body, undefined, 2));
    }
  });

  test('cover every event type', () => {
    for (const type of Object.keys(document.webhooks)) expect(findEventExample(type)).toMatchObject({ type });
  });

  test.each(Object.entries(orderActions).filter(([, { by }]) => by !== 'service'))(
    'of %s shows the new status, at a later time',
    (action, { to }) => {
      const { status, createdAt, updatedAt } = exampleOf(`${action}Order`).response.body as Record<string, string>;
      expect(status).toBe(to);
      expect(Date.parse(updatedAt ?? '')).toBeGreaterThan(Date.parse(createdAt ?? ''));
    },
  );
});
