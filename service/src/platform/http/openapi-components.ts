import { STATUS_CODES } from 'node:http';

interface MediaType {
  readonly schema?: { readonly $ref?: string };
  readonly examples?: Readonly<Record<string, object>>;
}

interface Response {
  readonly description?: string;
  readonly headers?: Readonly<Record<string, object>>;
  readonly content?: Readonly<Record<string, MediaType>>;
}

interface Operation {
  readonly parameters?: ReadonlyArray<{ readonly name: string }>;
  readonly responses: Readonly<Record<string, Response>>;
}

/** A document without references: each operation contains its parameters and responses. */
export interface InlineDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, object>>>>;
}

/**
 * Moves the parameters, responses, headers and examples that occur more than once into `components`, and replaces them with
 * references. Only identical values are shared, so `inlineComponents` restores the document.
 */
export function shareComponents(document: InlineDocument): object {
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  const occurrences = operations.flatMap((operation) => Object.entries(operation.responses));
  const nameOf = responseNames(occurrences);
  // Each distinct response counts once: a header that only one shared response has needs no component.
  const distinct = [...new Map(occurrences.map(([, response]) => [JSON.stringify(response), response])).values()];
  const parameters = share(
    'parameters',
    operations.flatMap((operation) => operation.parameters ?? []).map((one) => [one.name, one]),
  );
  const responses = share(
    'responses',
    occurrences.map(([status, response]) => [nameOf(status, response), response]),
  );
  const headers = share(
    'headers',
    distinct.flatMap((response) => Object.entries(response.headers ?? {})),
  );
  const examples = share(
    'examples',
    distinct.flatMap(contentsOf).flatMap((content) => Object.entries(content.examples ?? {})),
  );

  const shortenContent = (content: MediaType) => ({
    ...content,
    ...(content.examples && { examples: mapValues(content.examples, (one, name) => examples.refer(name, one) ?? one) }),
  });
  const shorten = (response: Response) => ({
    ...response,
    ...(response.headers && { headers: mapValues(response.headers, (one, name) => headers.refer(name, one) ?? one) }),
    ...(response.content && { content: mapValues(response.content, shortenContent) }),
  });
  const paths = mapValues(document.paths, (methods) =>
    mapValues(methods, (operation) => ({
      ...operation,
      ...(operation.parameters && { parameters: operation.parameters.map((one) => parameters.refer(one.name, one) ?? one) }),
      responses: mapValues(operation.responses, (one, status) => responses.refer(nameOf(status, one), one) ?? shorten(one)),
    })),
  );
  const components = {
    ...document.components,
    parameters: parameters.components,
    responses: mapValues(responses.components, shorten),
    headers: headers.components,
    examples: examples.components,
  };
  return { ...document, components, paths };
}

/**
 * The value with each reference replaced by its component. References to schemas stay: a schema's name is useful to
 * readers, and a schema may refer to itself.
 */
export function inlineComponents<T>(document: object, value: T): T {
  if (Array.isArray(value)) return value.map((one) => inlineComponents(document, one)) as T;
  if (typeof value !== 'object' || value === null) return value;
  const { $ref } = value as { $ref?: string };
  if ($ref === undefined) return mapValues(value as Record<string, unknown>, (one) => inlineComponents(document, one)) as T;
  return $ref.startsWith('#/components/schemas/') ? value : inlineComponents(document, findComponent(document, $ref) as T);
}

/** Resolves a reference such as `#/components/schemas/Pet`. */
export function findComponent(document: object, $ref: string): unknown {
  const keys = $ref.split('/').slice(1);
  const found = keys.reduce<unknown>((parent, key) => (parent as Record<string, unknown> | undefined)?.[key], document);
  if (found === undefined) throw new Error(`The document has no component ${$ref}.`);
  return found;
}

/** The values that occur more than once, by name. If several values have the same name, the first that occurs twice is shared. */
function share<T extends object>(kind: string, values: ReadonlyArray<readonly [name: string, value: T]>) {
  const seen = new Set<string>();
  const components: Record<string, T> = {};
  for (const [name, value] of values) {
    const text = `${name} ${JSON.stringify(value)}`;
    if (seen.has(text)) components[name] ??= value;
    seen.add(text);
  }
  const refer = (name: string, value: T): { $ref: string } | undefined =>
    JSON.stringify(components[name]) === JSON.stringify(value) ? { $ref: `#/components/${kind}/${name}` } : undefined;
  return { components, refer };
}

/** A response is named after its status if that has only one; otherwise after its error codes or its schema. */
function responseNames(occurrences: ReadonlyArray<readonly [status: string, response: Response]>) {
  const texts = new Map<string, Set<string>>();
  for (const [status, response] of occurrences) texts.set(status, (texts.get(status) ?? new Set()).add(JSON.stringify(response)));
  return (status: string, response: Response): string => {
    const statusName = (STATUS_CODES[status] ?? status).replaceAll(/\W/g, '');
    if (texts.get(status)?.size === 1) return statusName;
    const [content] = contentsOf(response);
    const codes = Object.keys(content?.examples ?? {}).map(pascalCase);
    return codes.join('Or') || (content?.schema?.$ref?.split('/').at(-1) ?? statusName);
  };
}

const contentsOf = (response: Response): MediaType[] => Object.values(response.content ?? {});

const pascalCase = (code: string) => code.replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());

const mapValues = <T, U>(values: Readonly<Record<string, T>>, map: (value: T, key: string) => U): Record<string, U> =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [key, map(value, key)]));
