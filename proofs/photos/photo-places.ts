// Where a store has its photos: in a directory, or in a bucket of a real S3 server.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { AwsClient } from 'aws4fetch';
import { DirectoryStore } from '../../service/src/images/directory-store.ts';
import type { PhotoStore } from '../../service/src/images/photo-store.ts';
import { S3Store } from '../../service/src/images/s3-store.ts';
import { startRadosgw } from '../../testkit/radosgw.ts';

export interface PhotoPlace extends AsyncDisposable {
  readonly name: string;
  readonly env: Readonly<Record<string, string>>;
  readonly files: PhotoStore;
}

export async function openDirectory(): Promise<PhotoPlace> {
  const folder = mkdtempSync(path.join(tmpdir(), 'homeward-photos-'));
  return {
    name: 'directory',
    env: { HOMEWARD_PHOTOS: folder },
    files: new DirectoryStore(folder),
    [Symbol.asyncDispose]: async () => rmSync(folder, { recursive: true, force: true }),
  };
}

export async function openBucket(): Promise<PhotoPlace> {
  const server = await startRadosgw();
  const { endpoint, accessKeyId, secretAccessKey } = server;
  const region = 'us-east-1';
  const { status } = await new AwsClient({ accessKeyId, secretAccessKey, region, service: 's3' }).fetch(`${endpoint}/photos`, {
    method: 'PUT',
  });
  if (status !== 200) throw new Error(`the bucket was not made: ${status}`);
  return {
    name: 'bucket',
    env: {
      HOMEWARD_PHOTOS: 's3://photos',
      HOMEWARD_PHOTOS_S3_ENDPOINT: endpoint,
      HOMEWARD_PHOTOS_S3_KEY_ID: accessKeyId,
      HOMEWARD_PHOTOS_S3_SECRET: secretAccessKey,
    },
    files: new S3Store({ bucket: 'photos', endpoint, region, accessKeyId, secretAccessKey }),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
