import type { TSchema } from 'typebox';

interface Schema {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
}

/**
 * Makes a body reject fields that it does not have, at every level: a misspelt one must not be lost in silence. Fields that only the
 * resource has, as responses show it, are read-only: they are ignored, so that what a GET has returned can be sent back. Objects with
 * names of the caller's choice stay open.
 */
export const closedBody = <Body extends TSchema>(body: Body, resource: TSchema = {}): Body => close(body, resource) as Body;

function close(body: Schema, resource: Schema): Schema {
  if (!body.properties) return body;
  const own = Object.entries(body.properties).map(([name, field]) => [name, close(field, resource.properties?.[name] ?? {})] as const);
  const others = Object.entries(resource.properties ?? {}).filter(([name]) => !Object.hasOwn(body.properties ?? {}, name));
  const readOnly = others.map(([name, { description }]) => [name, { ...(description && { description }), readOnly: true }] as const);
  return { ...body, properties: Object.fromEntries([...own, ...readOnly]), additionalProperties: false } as Schema;
}
