import { randomUUID } from 'node:crypto';
import { openAsBlob } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { AwsClient } from 'aws4fetch';
import type { S3Config } from '../platform/config.ts';
import { type FileName, type Folder, type PhotoStore, type StoredFile, StoreFull } from './photo-store.ts';

/** For a whole request, also for one whose response is read slowly. */
const timeoutMs = 60_000;
/** After a 5xx or a 429, with growing pauses. */
const retriesMax = 2;
/** What stores say when a quota is used up, or their disks are full. Amazon's has neither. */
const fullStatus = 507;
const fullCodes: readonly string[] = ['QuotaExceeded', 'XMinioAdminBucketQuotaExceeded', 'XMinioStorageFull'];

/** Photos in a bucket of an S3-compatible store. The bucket is part of the path, since not every store has a host for each bucket. */
export class S3Store implements PhotoStore {
  readonly #client: AwsClient;
  readonly #base: string;

  constructor({ bucket, endpoint, region, accessKeyId, secretAccessKey }: S3Config) {
    this.#client = new AwsClient({ accessKeyId, secretAccessKey, region, service: 's3', retries: retriesMax });
    this.#base = `${endpoint}/${bucket}`;
  }

  /** Only the bucket knows, and says so when a file is put. */
  async hasRoom(): Promise<boolean> {
    return true;
  }

  async put(name: FileName, content: Buffer | AsyncIterable<Buffer>): Promise<void> {
    if (!Buffer.isBuffer(content)) return this.#putStream(name, content);
    await this.#send('PUT', `/${name}`, { body: new Blob([new Uint8Array(content)]) });
  }

  /** S3 needs to know the length before the first byte, so what arrives is written to a file first, and sent from there. */
  async #putStream(name: FileName, content: AsyncIterable<Buffer>): Promise<void> {
    const file = path.join(tmpdir(), `homeward-photo-${randomUUID()}`);
    try {
      await writeFile(file, content, { mode: 0o600 });
      await this.#send('PUT', `/${name}`, { body: await openAsBlob(file) });
    } finally {
      await rm(file, { force: true });
    }
  }

  async get(name: FileName): Promise<StoredFile | undefined> {
    const response = await this.#send('GET', `/${name}`, { isOptional: true });
    if (!response?.body) return undefined;
    return { bytes: lengthOf(response), stream: Readable.fromWeb(response.body) };
  }

  async sizeOf(name: FileName): Promise<number | undefined> {
    const response = await this.#send('HEAD', `/${name}`, { isOptional: true });
    return response && lengthOf(response);
  }

  async delete(name: FileName): Promise<void> {
    await this.#send('DELETE', `/${name}`, { isOptional: true });
  }

  async modifiedAt(name: FileName): Promise<Date | undefined> {
    const response = await this.#send('HEAD', `/${name}`, { isOptional: true });
    return response && new Date(headerOf(response, 'last-modified'));
  }

  /** A page is one request: 1,000 names, in their order. */
  async *list(folder: Folder, after?: FileName): AsyncIterable<readonly FileName[]> {
    let token: string | undefined;
    do {
      const from = token ? { 'continuation-token': token } : after && { 'start-after': after };
      const query = new URLSearchParams({ 'list-type': '2', prefix: `${folder}/`, ...from });
      const xml = (await (await this.#send('GET', `?${query}`))?.text()) ?? '';
      const page = [...xml.matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, name]) => name as FileName);
      if (page.length > 0) yield page;
      token = textIn(xml, 'NextContinuationToken');
    } while (token);
  }

  /** Undefined if what is asked for does not exist and that is allowed. */
  async #send(method: string, target: string, { body, isOptional = false }: { body?: Blob; isOptional?: boolean } = {}) {
    const signal = AbortSignal.timeout(timeoutMs);
    const response = await this.#client.fetch(this.#base + target, { method, signal, ...(body && { body }) });
    if (response.ok) return response;
    const text = await response.text();
    const code = textIn(text, 'Code');
    // A bucket that does not exist is 404 too.
    if (isOptional && response.status === 404 && code !== 'NoSuchBucket') return undefined;
    const problem = `the store of photos responded with ${response.status} ${code ?? ''} to ${method} ${target.split('?', 1)[0]}`;
    throw response.status === fullStatus || fullCodes.includes(code ?? '') ? new StoreFull(problem) : new Error(problem);
  }
}

const lengthOf = (response: Response): number => Number(headerOf(response, 'content-length'));

function headerOf(response: Response, name: 'content-length' | 'last-modified'): string {
  const value = response.headers.get(name);
  if (value === null) throw new Error(`the store of photos, or a proxy before it, sent a file without ${name}`);
  return value;
}

/** Of an element in the XML of S3. The names of our files and the tokens have no character that XML escapes. */
const textIn = (xml: string, element: string): string | undefined => new RegExp(`<${element}>([^<]*)</${element}>`).exec(xml)?.[1];
