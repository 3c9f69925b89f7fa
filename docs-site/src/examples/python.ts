import { type ExampleRequest, pathOf } from './example.ts';
import { literal, pythonSyntax, widthMax } from './literals.ts';
import { sdkCallOf } from './sdk-calls.ts';

const { indent } = pythonSyntax;

/** The request with the library `requests`. */
export function pythonOf(request: ExampleRequest): string {
  const { operationId, method, query, hasIdempotencyKey, body, file } = request;
  const args = [
    `f"{url}${pathOf(request)}"`,
    ...(Object.keys(query).length > 0 ? [named('params', query)] : []),
    ...(hasIdempotencyKey ? ['headers={"Idempotency-Key": str(uuid.uuid4())}'] : []),
    ...(file === undefined ? [] : ['headers={"Content-Type": "image/jpeg"}', `data=Path("${file}").read_bytes()`]),
    ...(body === undefined ? [] : [named('json', body)]),
    'timeout=30',
  ];
  const { result } = sdkCallOf(operationId);
  return [
    ...(file === undefined ? [] : ['from pathlib import Path\n']),
    callOf(`response = session.${method.toLowerCase()}`, args),
    'response.raise_for_status()',
    ...(result ? [`${result} = response.json()`] : []),
  ].join('\n');
}

const named = (name: string, value: unknown): string =>
  `${name}=${literal(value, pythonSyntax, { depth: 1, column: indent.length + name.length + 2 })}`;

/** On one line if it fits, otherwise with a line for each argument. */
function callOf(called: string, args: readonly string[]): string {
  const line = `${called}(${args.join(', ')})`;
  if (line.length <= widthMax && !line.includes('\n')) return line;
  return `${called}(\n${args.map((arg) => `${indent}${arg},\n`).join('')})`;
}
