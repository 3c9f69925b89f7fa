// The examples of the reference: recorded from a real store by `npm run examples`, and shown in three languages.
import events from '../../examples/events.json' with { type: 'json' };
import operations from '../../examples/operations.json' with { type: 'json' };
import { curlOf } from './curl.ts';
import type { Example, ExampleRequest, ExampleResponse, Sample } from './example.ts';
import { pythonOf } from './python.ts';
import { storeAddress } from './store-address.ts';
import { typescriptOf } from './typescript.ts';

export interface OperationExample {
  /** The same request in each language. TypeScript and Python need what `setupExample` declares. */
  readonly requests: readonly Sample[];
  readonly response: ExampleResponse;
  /** The path's parameters. */
  readonly parameters: ExampleRequest['parameters'];
  readonly query: ExampleRequest['query'];
  /** The body that was sent; undefined if there was none. */
  readonly body: unknown;
}

/** Undefined for an operation that is not recorded yet. */
export function findOperationExample(operationId: string): OperationExample | undefined {
  const example = (operations as Readonly<Record<string, Example>>)[operationId];
  if (!example) return undefined;
  const { request, response } = example;
  return { requests: requestsOf(request), response, parameters: request.parameters, query: request.query, body: request.body };
}

/** An event of this type, as in the feed. Undefined for a type that is not recorded yet. */
export const findEventExample = (type: string): unknown => (events as Readonly<Record<string, unknown>>)[type];

export const requestsOf = (request: ExampleRequest): Sample[] => blocks(curlOf(request), typescriptOf(request), pythonOf(request));

/** What a reader does once before any of the requests. */
export const setupExample = (): Sample[] =>
  blocks(
    'export HOMEWARD_KEY=hw_live_…',
    `import { createStore } from '@homeward/sdk';

const store = createStore({
  url: '${storeAddress}',
  key: process.env.HOMEWARD_KEY ?? '',
});`,
    `import os
import uuid

import requests

url = "${storeAddress}"
session = requests.Session()
session.headers["Authorization"] = f"Bearer {os.environ['HOMEWARD_KEY']}"`,
  );

const blocks = (curl: string, typescript: string, python: string): Sample[] => [
  { language: 'sh', code: curl },
  { language: 'ts', code: typescript },
  { language: 'py', code: python },
];
