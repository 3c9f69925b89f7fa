import { readFileSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { AppError } from '../../platform/errors.ts';
import { parseJsonBody } from '../../platform/http/json-body.ts';
import { createValidatorCompiler } from '../../platform/http/schema-compilers.ts';
import { UsageError } from './output.ts';

/** Checks values by schemas of the API, so that a command stores only what a request may contain too. `shared`: those that it refers to. */
export function checkBySchema(schema: object, values: object, shared: readonly object[] = []): void {
  const validate = createValidatorCompiler(shared)({ schema, httpPart: 'body', method: '', url: '' });
  const { error } = validate(values) as { error?: Error };
  if (error) throw new UsageError(error.message);
}

/** As the body of a request. */
const fileBytesMax = 1_048_576;

interface Options {
  /** The schemas that the schema refers to. */
  readonly shared?: readonly object[];
  /** What to do if the file has nothing. */
  readonly ifEmpty: string;
}

/** What a file, or standard input for `-`, has: JSON, read and checked as the body of a request is. */
export async function readJsonFile(file: string, schema: object, { shared, ifEmpty }: Options): Promise<object> {
  const bytes = await readBytes(file);
  if (bytes.length > fileBytesMax) throw new UsageError(`${file} has ${bytes.length} bytes; ${fileBytesMax} are allowed.`);
  if (bytes.length === 0) throw new UsageError(`${file} is empty. ${ifEmpty}`);
  try {
    const body = parseJsonBody(bytes) as object;
    checkBySchema(schema, body, shared);
    return body;
  } catch (error) {
    if (!(error instanceof AppError || error instanceof UsageError)) throw error;
    throw new UsageError(error.message.replace(/^The (request )?body/, file));
  }
}

async function readBytes(file: string): Promise<Buffer> {
  try {
    return file === '-' ? await buffer(process.stdin) : readFileSync(file);
  } catch (error) {
    throw new UsageError(`${file} can't be read: ${error instanceof Error ? error.message : error}.`);
  }
}
