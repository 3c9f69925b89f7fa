import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import path from 'node:path';
import type { PhotosConfig, S3Config } from '../config.ts';
import { openPhotoStore } from '../photos/open-store.ts';
import { pictureName } from '../photos/photo-store.ts';
import { S3Store } from '../photos/s3-store.ts';
import { broken, type Finding, note, ok, within } from './finding.ts';

const timeoutMs = 5_000;

interface KnownPhotos {
  readonly hasPhotos?: boolean | undefined;
  /** The hash of a picture whose file must be there. */
  readonly picture?: string | undefined;
}

/** Where photos are stored. Writes nothing: what a process can't write shows in its permissions. */
export async function checkPhotos(photos: PhotosConfig | undefined, { hasPhotos, picture }: KnownPhotos = {}): Promise<Finding> {
  if (!photos && hasPhotos) {
    const found = 'HOMEWARD_PHOTOS is not set here, but the store has photos: where they are stored was not examined.';
    return note('photos', found, 'Run doctor with the variables of the worker.');
  }
  if (!photos) return ok('photos', 'Photos are off: HOMEWARD_PHOTOS is not set, and the store has none.');
  const place = 's3' in photos ? await checkBucket(photos.s3) : await checkDirectory(photos.directory);
  if (place.severity !== 'ok' || picture === undefined) return place;
  const where = 's3' in photos ? `The bucket ${photos.s3.bucket}` : `The directory ${photos.directory}`;
  if (await within(timeoutMs, 'looking for a picture', hasPicture(photos, picture))) return place;
  const found = `${where} lacks the picture of a photo that is ready (${picture}): sites of partners show none.`;
  return broken('photos', found, 'Is its disk mounted? If it is, and files are missing, restore them from the backup: docs/backup.md.');
}

async function checkDirectory(directory: string): Promise<Finding> {
  try {
    const folder = await within(timeoutMs, `stat of ${directory}`, firstExisting(directory));
    await access(folder, constants.W_OK | constants.X_OK);
    if (!(await stat(folder)).isDirectory()) throw Object.assign(new Error(), { code: 'ENOTDIR' });
    return ok('photos', `The directory ${directory} can be ${folder === directory ? 'written' : 'created'}.`);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const found = `The directory for photos, ${directory}, can't be written (${code ?? message}), so that uploads are 503.`;
    return broken('photos', found, 'Correct HOMEWARD_PHOTOS, or give the directory to the user of the processes.');
  }
}

/** The processes create what is missing of it. */
async function firstExisting(folder: string): Promise<string> {
  const isThere = await stat(folder).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false;
      throw error;
    },
  );
  return isThere ? folder : firstExisting(path.dirname(folder));
}

async function checkBucket(s3: S3Config): Promise<Finding> {
  try {
    await within(timeoutMs, 'listing it', listSome(s3));
    return ok('photos', `The bucket ${s3.bucket} at ${s3.endpoint} can be listed.`);
  } catch (error) {
    const { message, cause } = error as Error;
    const found = `The bucket ${s3.bucket} at ${s3.endpoint} can't be used: ${(cause as Error | undefined)?.message ?? message}.`;
    return broken('photos', found, fixOf(message));
  }
}

async function listSome(s3: S3Config): Promise<void> {
  for await (const _ of new S3Store(s3).list('photos')) return;
}

function fixOf(message: string): string {
  if (message.includes('NoSuchBucket')) return 'Create the bucket, or correct HOMEWARD_PHOTOS.';
  if (message.includes('InvalidAccessKeyId')) return 'Correct HOMEWARD_PHOTOS_S3_KEY_ID.';
  if (message.includes('SignatureDoesNotMatch')) return 'Correct HOMEWARD_PHOTOS_S3_SECRET, or the file that contains it.';
  if (message.includes('403')) return 'Allow the key to get, put, delete and list in this bucket.';
  return 'Correct HOMEWARD_PHOTOS_S3_ENDPOINT and HOMEWARD_PHOTOS_S3_REGION, or let this machine reach it.';
}

async function hasPicture(photos: PhotosConfig, hash: string): Promise<boolean> {
  const store = openPhotoStore(photos);
  return store === undefined || (await store.sizeOf(pictureName(hash))) !== undefined;
}
