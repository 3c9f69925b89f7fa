import { type ApiDocument, resolve, type Schema } from './reference-document.ts';

/** A value that the schema accepts: its own example, or one composed from its parts. */
export function exampleOf(document: ApiDocument, schema: Schema): unknown {
  const { examples, const: only, enum: values, anyOf, items, properties, type, format, default: preset } = resolve(document, schema);
  if (examples?.[0] !== undefined) return examples[0];
  if (properties) return Object.fromEntries(Object.entries(properties).map(([name, property]) => [name, exampleOf(document, property)]));
  const simple = only ?? preset ?? values?.[0];
  if (simple !== undefined) return simple;
  if (anyOf) return exampleOf(document, bestChoice(document, anyOf));
  if (items) return [exampleOf(document, items)];
  if (format === 'date-time') return '2026-11-15T10:00:00.000Z';
  if (type === 'integer') return 1;
  return type === 'boolean' ? true : type === 'null' ? null : '…';
}

/** Prefers a schema that has an example, then null: an invented value would not help a reader. */
function bestChoice(document: ApiDocument, choices: readonly Schema[]): Schema {
  const resolved = choices.map((choice) => resolve(document, choice));
  const [first = {}] = resolved;
  return resolved.find(({ examples, properties }) => examples ?? properties) ?? resolved.find(({ type }) => type === 'null') ?? first;
}
