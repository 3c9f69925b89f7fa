import { type ExampleRequest, pathOf } from './example.ts';
import { jsonSyntax, literal } from './literals.ts';
import { storeAddress } from './store-address.ts';

/** The request as a command. The shell must have HOMEWARD_KEY. */
export function curlOf(request: ExampleRequest): string {
  const { method, query, hasIdempotencyKey, body, file } = request;
  const search = new URLSearchParams(Object.entries(query).map(([name, value]): [string, string] => [name, String(value)])).toString();
  // With a body, curl sends a POST by itself.
  const isDefault = method === (body === undefined && file === undefined ? 'GET' : 'POST');
  return [
    `curl ${isDefault ? '' : `-X ${method} `}"${storeAddress}${pathOf(request)}${search && `?${search}`}"`,
    '-H "Authorization: Bearer $HOMEWARD_KEY"',
    ...(hasIdempotencyKey ? ['-H "Idempotency-Key: $(openssl rand -hex 16)"'] : []),
    ...(body === undefined ? [] : ["-H 'Content-Type: application/json'", `-d ${quoted(body)}`]),
    ...(file === undefined ? [] : ["-H 'Content-Type: image/jpeg'", `--data-binary @${file}`]),
  ].join(' \\\n  ');
}

function quoted(body: unknown): string {
  const text = literal(body, jsonSyntax, { depth: 1, column: "  -d ''".length });
  return `'${text.replaceAll("'", "'\\''")}'`;
}
