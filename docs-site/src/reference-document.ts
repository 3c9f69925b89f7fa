// The types of the OpenAPI document that the reference needs, and functions that read it.
import { findComponent, inlineComponents } from '../../service/src/platform/http/openapi-components.ts';
import type { Heading } from './markdown.ts';

export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly readOnly?: boolean;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly enum?: ReadonlyArray<string | number | null>;
  readonly const?: string | number | boolean;
  readonly default?: string | number | boolean;
  readonly examples?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly 'x-must-be'?: string;
}

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly description?: string;
  readonly example?: string | number;
  readonly schema: Schema;
}

interface Content {
  readonly schema: Schema;
  readonly examples?: Readonly<Record<string, unknown>>;
}

export interface Response {
  readonly description: string;
  readonly headers?: Readonly<Record<string, { readonly description?: string }>>;
  readonly content?: Readonly<Record<string, Content>>;
}

interface DocumentedOperation {
  readonly operationId: string;
  readonly tags?: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly deprecated?: boolean;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Content>> };
  readonly responses: Readonly<Record<string, Response>>;
  readonly 'x-scope'?: string;
  readonly 'x-stability'?: string;
  readonly 'x-sunset'?: string;
}

export interface ApiDocument {
  readonly servers: ReadonlyArray<{ readonly url: string }>;
  readonly tags: ReadonlyArray<{ readonly name: string; readonly description?: string }>;
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
  readonly webhooks: Readonly<Record<string, { readonly post: Pick<DocumentedOperation, 'summary' | 'requestBody'> }>>;
}

export interface Operation extends DocumentedOperation {
  readonly method: string;
  /** Includes /v1. */
  readonly path: string;
}

/** A section of the reference in the navigation. */
export interface SectionLink {
  readonly href: string;
  readonly title: string;
  readonly items: readonly Heading[];
}

/** Every operation, with references to shared components resolved. Schemas stay references. */
export function operationsOf(document: ApiDocument): Operation[] {
  const base = document.servers[0]?.url ?? '';
  return Object.entries(inlineComponents(document, document.paths)).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ ...operation, method: method.toUpperCase(), path: base + path })),
  );
}

export const sectionPath = (tag: string) => `/docs/reference/${tag.toLowerCase()}`;
export const operationUrl = ({ tags, operationId }: Operation) => `${sectionPath(tags?.[0] ?? '')}#${operationId}`;
export const eventTypesPath = '/docs/reference/event-types';

export function sectionsOf(document: ApiDocument): SectionLink[] {
  const operations = operationsOf(document);
  const sections = document.tags.map(({ name }) => ({
    href: sectionPath(name),
    title: name,
    items: operations.filter(({ tags }) => tags?.[0] === name).map(({ operationId, summary }) => ({ id: operationId, text: summary })),
  }));
  const types = Object.keys(document.webhooks).map((type) => ({ id: type, text: type }));
  return [...sections, { href: eventTypesPath, title: 'Event types', items: types }];
}

/** The error codes of a response. */
export const codesOf = (response: Response): string[] => Object.keys(response.content?.['application/json']?.examples ?? {});

/** The error codes that every operation can return. */
export function commonCodes(operations: readonly Operation[]): Set<string> {
  const [first, ...others] = operations.map(({ responses }) => new Set(Object.values(responses).flatMap(codesOf)));
  return new Set([...(first ?? [])].filter((code) => others.every((codes) => codes.has(code))));
}

/** The headers that every successful response has. */
export function commonHeaders(operations: readonly Operation[]): Map<string, string> {
  const successes = operations
    .flatMap(({ responses }) => Object.entries(responses))
    .filter(([status, { content }]) => isSuccess(status) && content);
  const [first, ...others] = successes.map(([, { headers = {} }]) => headers);
  const shared = Object.entries(first ?? {}).filter(([name]) => others.every((headers) => Object.hasOwn(headers, name)));
  return new Map(shared.map(([name, { description = '' }]) => [name, description]));
}

export const isSuccess = (status: string) => /^[23]/.test(status);

/** Follows references and merges what `allOf` combines. */
export function resolve(document: ApiDocument, schema: Schema): Schema {
  if (schema.$ref) return resolve(document, findComponent(document, schema.$ref) as Schema);
  if (!schema.allOf) return schema;
  return schema.allOf.map((part) => resolve(document, part)).reduce(merge, {});
}

function merge(one: Schema, other: Schema): Schema {
  const properties = { ...one.properties };
  for (const [name, schema] of Object.entries(other.properties ?? {})) properties[name] = { ...properties[name], ...schema };
  return { ...one, ...other, properties };
}
