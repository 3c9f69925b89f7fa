import type { Readable } from 'node:stream';
import { Busboy, type BusboyFileStream } from '@fastify/busboy';
import { AppError } from '../../platform/errors.ts';

/** A field of a form, or a file while it arrives. A file is read to its end, or what is left of it is discarded, before the next part. */
type FormPart = { readonly name: string; readonly value: string } | SentFile;

export interface SentFile {
  readonly fileName: string;
  readonly content: AsyncIterable<Buffer>;
}

/** Of one form. A field has a token or an id. */
const fieldsMax = 8;
const fieldBytesMax = 1_000;
const partHeaderBytesMax = 4_000;
const partHeadersMax = 16;
/** After so long without progress, though there are bytes to read or the body has ended, the parser waits for what never comes. */
const parserMsMax = 1_000;

/** The parts of a form, in the order in which they arrive. */
export async function* readParts(
  contentType: string,
  body: Readable,
  { filesMax }: { readonly filesMax: number },
): AsyncGenerator<FormPart> {
  const parser = openParser(contentType, filesMax);
  const waiting: Array<{ readonly part: FormPart; readonly file?: BusboyFileStream }> = [];
  const files = new Set<BusboyFileStream>();
  let failure: Error | undefined;
  let isEnd = false;
  /** Nothing is being read: the next part is the parser's to bring. */
  let isIdle = false;
  let passed = 0;
  let passedBefore = -1;
  let wake = () => {};
  const fail = (error: Error) => {
    failure ??= error;
    for (const file of files) file.destroy(failure);
    wake();
  };
  const failMalformed = (reason: string) => fail(malformedForm(reason));
  parser
    .on('field', (name: string | undefined, value: string, _: boolean, isTruncated: boolean) => {
      if (isTruncated || name === undefined) return failMalformed('a field is too long, or has no name');
      waiting.push({ part: { name, value } });
      wake();
    })
    .on('file', (_, file, fileName) => {
      files.add(file.on('error', () => {}));
      waiting.push({ part: { fileName: fileName ?? '', content: contentOf(file, () => failure) }, file });
      wake();
    })
    .on('fieldsLimit', () => failMalformed('it has too many fields'))
    .on('filesLimit', () => failMalformed('it has too many files'))
    // Those without a name are neither, and each costs more than its few bytes.
    .on('partsLimit', () => failMalformed('it has too many parts'))
    .on('error', (error) => failMalformed(String(error)))
    .once('finish', () => {
      isEnd = true;
      wake();
    });
  const count = (chunk: Buffer) => (passed += chunk.length);
  body.on('data', count).once('error', fail).pipe(parser);
  // Of some malformed headers of parts the parser says nothing at all.
  const check = setInterval(() => {
    if (isIdle && passed === passedBefore && (body.readableEnded || body.readableLength > 0)) failMalformed('the parser is stuck');
    passedBefore = isIdle ? passed : -1;
  }, parserMsMax);
  try {
    for (;;) {
      const next = waiting.shift();
      if (next) {
        yield next.part;
        next.file?.resume();
      } else if (failure) throw failure;
      else if (isEnd) return;
      else {
        isIdle = true;
        await new Promise<void>((resolve) => (wake = resolve));
        isIdle = false;
      }
    }
  } finally {
    clearInterval(check);
    body.off('data', count).off('error', fail).unpipe(parser);
    for (const file of files) file.destroy();
  }
}

/** The stream is not destroyed by a reader who stops: the parser waits for its end. */
async function* contentOf(file: BusboyFileStream, failure: () => Error | undefined): AsyncGenerator<Buffer> {
  try {
    yield* file.iterator({ destroyOnReturn: false });
  } catch (error) {
    throw failure() ?? error;
  }
}

function openParser(contentType: string, filesMax: number) {
  const limits = {
    fields: fieldsMax,
    fieldSize: fieldBytesMax,
    files: filesMax,
    parts: fieldsMax + filesMax,
    headerPairs: partHeadersMax,
    headerSize: partHeaderBytesMax,
  };
  try {
    return new Busboy({ headers: { 'content-type': contentType }, limits });
  } catch (cause) {
    throw malformedForm('it has no boundary', cause);
  }
}

export const malformedForm = (reason: string, cause?: unknown): AppError =>
  new AppError('malformed_request', `This is not a whole form: ${reason}.`, { cause });
