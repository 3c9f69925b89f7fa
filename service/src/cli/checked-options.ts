import { createValidatorCompiler } from '../platform/http/schema-compilers.ts';
import { UsageError } from './output.ts';

/** Checks values by schemas of the API, so that a command stores only what a request may contain too. `shared`: those that it refers to. */
export function checkBySchema(schema: object, values: object, shared: readonly object[] = []): void {
  const validate = createValidatorCompiler(shared)({ schema, httpPart: 'body', method: '', url: '' });
  const { error } = validate(values) as { error?: Error };
  if (error) throw new UsageError(error.message);
}
