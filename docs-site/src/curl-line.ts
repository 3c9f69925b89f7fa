import type { ApiDocument, Operation } from './reference-document.ts';
import { exampleOf } from './schema-example.ts';

/** An example request as a curl command. The shell must have HOMEWARD_URL and HOMEWARD_KEY set. */
export function curlOf(document: ApiDocument, { method, path, parameters = [], requestBody }: Operation): string {
  const url = path.replaceAll(/\{\w+\}/g, '1');
  const schema = requestBody?.content['application/json']?.schema;
  const idempotent = parameters.some(({ name }) => name === 'idempotency-key');
  return [
    `curl ${method === 'GET' || (method === 'POST' && schema) ? '' : `-X ${method} `}"$HOMEWARD_URL${url}"`,
    '-H "Authorization: Bearer $HOMEWARD_KEY"',
    ...(idempotent ? ['-H "Idempotency-Key: $(uuidgen)"'] : []),
    ...(schema ? ["-H 'Content-Type: application/json'", `-d '${JSON.stringify(exampleOf(document, schema))}'`] : []),
  ].join(' \\\n  ');
}
