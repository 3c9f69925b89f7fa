import type { ExampleRequest } from './example.ts';
import { literal, typescriptSyntax, widthMax } from './literals.ts';
import { type SdkCall, sdkCallOf } from './sdk-calls.ts';

/** The request with the SDK, which adds idempotency keys by itself. */
export function typescriptOf(request: ExampleRequest): string {
  const sdkCall = sdkCallOf(request.operationId);
  const statement = sdkCall.read === 'page of list' ? pageOfList(sdkCall, request) : simpleCall(sdkCall, request);
  const imported = request.file === undefined ? '' : "import { openAsBlob } from 'node:fs';\n\n";
  return imported + (sdkCall.comment ? `// ${sdkCall.comment}\n${statement}` : statement);
}

function simpleCall(sdkCall: SdkCall, request: ExampleRequest): string {
  const { call, method, field } = sdkCall;
  const first = method ? `${call}(${Object.values(request.parameters).join(', ')}).${method}` : call;
  const start = `${declaration(sdkCall)}await store.${first}(`;
  const body = field === undefined ? request.body : (request.body as Record<string, unknown>)[field];
  return `${start}${argumentsOf({ ...request, body, ...(method && { parameters: {} }) }, start.length)});`;
}

/** On one line if it fits, otherwise with a line for each call. */
function pageOfList(sdkCall: SdkCall, request: ExampleRequest): string {
  const [part, list] = sdkCall.call.split('.');
  const start = `${declaration(sdkCall)}await store.${part}`;
  const args = argumentsOf(request, typescriptSyntax.indent.length);
  const line = `${start}.${list}(${args}).page();`;
  return line.length <= widthMax ? line : `${start}\n  .${list}(${args})\n  .page();`;
}

function declaration({ result, read }: SdkCall): string {
  if (!result) return '';
  return read ? `const { items: ${result}, cursor } = ` : `const ${result} = `;
}

/** The path's parameters, then the query or the body. */
function argumentsOf({ parameters, query, body, file }: ExampleRequest, column: number): string {
  if (file !== undefined) return [...Object.values(parameters), `await openAsBlob('${file}')`].join(', ');
  const sent = body ?? (Object.keys(query).length > 0 ? query : undefined);
  const values = [...Object.values(parameters), ...(sent === undefined ? [] : [sent])];
  return values.map((value) => literal(value, typescriptSyntax, { column: column + 2 })).join(', ');
}
