// The fix of an error as a program in three languages, from the table of codes.
import type { FixInCode } from '../../../service/src/platform/errors.ts';
import { type ApiDocument, type Operation, operationsOf } from '../reference-document.ts';
import { curlOf } from './curl.ts';
import { type ExampleRequest, pathOf, type Sample } from './example.ts';
import { literal, pythonSyntax, typescriptSyntax } from './literals.ts';
import { requestsOf, setupExample } from './operation-examples.ts';
import { pythonOf } from './python.ts';
import { sdkCallOf } from './sdk-calls.ts';
import { storeAddress } from './store-address.ts';
import { typescriptOf } from './typescript.ts';

type Language = Sample['language'];
type Programs = Readonly<Record<Language, string>>;

const languages = ['sh', 'ts', 'py'] as const;

/** Whole programs: with what a reader declares once. */
export function fixSamples(fix: FixInCode, document: ApiDocument): Sample[] {
  const setup = setupExample();
  const programs = programsOf(fix, (text) => readRequest(text, document));
  return languages.map((language) => {
    const start = setup.find((block) => block.language === language)?.code ?? '';
    return { language, code: hoisted(`${start}\n\n${programs[language]}`, language) };
  });
}

function programsOf(fix: FixInCode, read: (text: string) => ExampleRequest): Programs {
  if ('send' in fix) return joined(fix.send.map((text) => inEach(read(text))));
  if ('wait' in fix) return waiting(read(fix.wait));
  if ('report' in fix) return reporting(read(fix.report));
  return rereading(read(fix.reread));
}

function inEach(request: ExampleRequest): Programs {
  const code = (language: Language) => requestsOf(request).find((block) => block.language === language)?.code ?? '';
  // Nothing reads the next page.
  return { sh: code('sh'), ts: code('ts').replace(', cursor }', ' }'), py: code('py') };
}

const joined = (parts: readonly Programs[]): Programs => {
  const all = (language: Language) => parts.map((part) => part[language]).join('\n\n');
  return { sh: all('sh'), ts: all('ts'), py: all('py') };
};

const attemptsMax = 5;

function waiting(request: ExampleRequest): Programs {
  const { result } = sdkCallOf(request.operationId);
  const [call = ''] = pythonOf(request).split('\nresponse.raise_for_status()');
  // The same key each time: that is what makes the retries safe.
  const newKey = 'str(uuid.uuid4())';
  return {
    sh: curlOf(request).replace('curl ', `curl --fail --retry ${attemptsMax} --retry-all-errors `),
    ts: `// The client waits for Retry-After and retries by itself.\n${typescriptOf(request)}`,
    py: [
      'import time\n',
      ...(call.includes(newKey) ? [`idempotency_key = ${newKey}`] : []),
      `for attempt in range(${attemptsMax}):`,
      indented(call.replace(newKey, 'idempotency_key'), pythonSyntax.indent),
      '    if "Retry-After" not in response.headers:',
      '        break',
      '    time.sleep(int(response.headers["Retry-After"]))',
      'response.raise_for_status()',
      ...(result ? [`${result} = response.json()`] : []),
    ].join('\n'),
  };
}

function reporting(request: ExampleRequest): Programs {
  const [call = ''] = pythonOf(request).split('\nresponse.raise_for_status()');
  return {
    sh: curlOf(request).replace('curl ', 'curl -i '),
    ts: [
      "import { HomewardError } from '@homeward/sdk';\n",
      'try {',
      indented(typescriptOf(request), typescriptSyntax.indent),
      '} catch (error) {',
      '  if (!(error instanceof HomewardError)) throw error;',
      '  console.error(error.message, error.requestId);',
      '}',
    ].join('\n'),
    py: [call, 'if not response.ok:', '    print(response.json()["message"], response.headers["X-Request-Id"])'].join('\n'),
  };
}

function rereading(request: ExampleRequest): Programs {
  const url = storeAddress + pathOf(request);
  const id = Object.values(request.parameters).join(', ');
  return {
    sh: `etag=$(curl -s -o /dev/null -w '%header{etag}' \\\n  "${url}" -H "Authorization: Bearer $HOMEWARD_KEY")\n${curlOf(request)} \\\n  -H "If-Match: $etag"`,
    ts: `const profile = store.pets.profile(${id});\nconst { etag } = await profile.getWithEtag();\nawait profile.patch(${literal(request.body, typescriptSyntax)}, { ifMatch: etag });`,
    py: [
      `path = "${pathOf(request)}"`,
      'response = session.get(url + path, timeout=30)',
      'response.raise_for_status()',
      `response = session.patch(`,
      '    url + path,',
      `    json=${literal(request.body, pythonSyntax, { depth: 1 })},`,
      '    headers={"If-Match": response.headers["ETag"]},',
      '    timeout=30,',
      ')',
      'response.raise_for_status()',
    ].join('\n'),
  };
}

const indented = (code: string, indent: string): string => code.replaceAll(/^(?=.)/gm, indent);

/** With every import at the start, each once. */
function hoisted(code: string, language: Language): string {
  if (language === 'sh') return code;
  const lines = code.split('\n');
  const isImport = (line: string) =>
    language === 'ts' ? /^\s*import .* from /.test(line) : /^\s*(import \w+|from \w+ import .*)$/.test(line);
  const imports = [...new Set(lines.filter(isImport).map((line) => line.trim()))];
  const rest = lines
    .filter((line, i) => !isImport(line) && !(line === '' && isImport(lines[i - 1] ?? '')))
    .join('\n')
    .trim();
  const merged = language === 'ts' ? mergeSdkImports(imports) : sortedImports(imports, rest);
  return `${merged.join('\n')}\n\n${rest.replaceAll(/\n{3,}/g, '\n\n')}`;
}

function mergeSdkImports(imports: readonly string[]): string[] {
  const ofSdk = imports.flatMap((line) => /^import \{ (.+) \} from '@homeward\/sdk';$/.exec(line)?.[1] ?? []);
  const others = imports.filter((line) => !line.includes('@homeward/sdk'));
  return [...others, `import { ${ofSdk.sort().join(', ')} } from '@homeward/sdk';`];
}

/** The standard library first, then what is installed; only what is used. */
function sortedImports(imports: readonly string[], rest: string): string[] {
  const used = imports.filter((line) => new RegExp(`\\b${line.split(' ').at(-1)}[.(]`).test(rest));
  const isInstalled = (line: string) => line === 'import requests';
  const ofPython = used
    .filter((line) => !isInstalled(line))
    .sort((a, b) => Number(a.startsWith('from')) - Number(b.startsWith('from')) || (a < b ? -1 : 1));
  return [...ofPython, '', ...used.filter(isInstalled)];
}

function queryValue(name: string, text: string, { parameters = [] }: Operation): string | number | number[] {
  const value = /^\d+$/.test(text) ? Number(text) : text;
  const isList = parameters.some((one) => one.name === name && one.schema.type === 'array');
  return isList && typeof value === 'number' ? [value] : value;
}

/** A request of the table, as the examples of the reference have them. */
function readRequest(text: string, document: ApiDocument): ExampleRequest {
  const [line = '', body] = text.split('\n\n');
  const [method = '', url = ''] = line.split(' ');
  const { pathname, searchParams } = new URL(url, storeAddress);
  for (const operation of operationsOf(document)) {
    const names = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
    const values = new RegExp(`^${operation.path.replaceAll(/\{\w+\}/g, '(\\d+)')}$`).exec(pathname);
    if (operation.method !== method || !values) continue;
    const file = /^\((.+)\)$/.exec(body ?? '')?.[1];
    return {
      operationId: operation.operationId,
      method,
      path: operation.path,
      parameters: Object.fromEntries(names.map((name, i) => [name, Number(values[i + 1])])),
      query: Object.fromEntries([...searchParams].map(([name, value]) => [name, queryValue(name, value, operation)])),
      hasIdempotencyKey: file === undefined && (operation.parameters?.some(({ name }) => name === 'idempotency-key') ?? false),
      ...(file !== undefined && { file }),
      ...(body !== undefined && file === undefined && { body: JSON.parse(body) }),
    };
  }
  throw new Error(`${line} is no operation.`);
}
