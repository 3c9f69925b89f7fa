import { createValidatorCompiler } from '../http/validation.ts';
import { UsageError } from './output.ts';

/** Checks options by the schemas of the API's fields, so that a command stores only what a request may contain too. */
export function checkOptions(options: Readonly<Record<string, { readonly value: string; readonly schema: object }>>): void {
  const entries = Object.entries(options);
  const schema = { type: 'object', properties: Object.fromEntries(entries.map(([name, option]) => [name, option.schema])) };
  const validate = createValidatorCompiler([])({ schema, httpPart: 'body', method: '', url: '' });
  const { error } = validate(Object.fromEntries(entries.map(([name, { value }]) => [name, value]))) as { error?: Error };
  if (error) throw new UsageError(error.message);
}
