import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import path from 'node:path';
import { type RecordedMark, readMarkFile } from '../../animals/photos/photo-mark.ts';
import { openPhotoStore } from '../../images/open-store.ts';
import { markName, type PhotoStore, pictureName } from '../../images/photo-store.ts';
import { openPictureMaker, probe } from '../../images/picture-maker.ts';
import { S3Store } from '../../images/s3-store.ts';
import type { PhotosConfig, S3Config } from '../../platform/config.ts';
import { broken, counted, type Judgement, note, ok, warning, within } from './finding.ts';
import { tryFile } from './machine-checks.ts';

const timeoutMs = 5_000;
/** After this time an original that is missing is not late, but lost. */
export const originalMissingHours = 24;

/** What PostgreSQL says of photos. */
export interface KnownPhotos {
  readonly hasPhotos: boolean;
  /** The hash of a picture whose file must be there. */
  readonly picture: string | undefined;
  /** Photos that wait for their originals for longer than a day. */
  readonly originalsMissing: number;
  readonly mark: RecordedMark;
}

/** Where photos are stored: whether files can be written there, and whether the photos are those of this store. */
export async function checkPhotos(photos: PhotosConfig | undefined, known?: KnownPhotos): Promise<Judgement> {
  if (!photos && known?.hasPhotos) {
    const found = 'HOMEWARD_PHOTOS is not set here, but the store has photos: where they are stored was not examined.';
    return note(found, 'Run doctor with the variables of the worker.');
  }
  const store = openPhotoStore(photos);
  if (!photos || !store) return ok('Photos are off: HOMEWARD_PHOTOS is not set, and the store has none.');
  const place = 's3' in photos ? await checkBucket(photos.s3) : await checkDirectory(photos.directory);
  if (place.severity !== 'ok' || !known) return place;
  const where = 's3' in photos ? `The bucket ${photos.s3.bucket}` : `The directory ${photos.directory}`;
  return (await within(timeoutMs, 'looking for the photos', checkKnown(store, where, known))) ?? place;
}

const mounted = 'Is its disk mounted? If it is, and files are missing, restore them from the backup: docs/backup.md.';

/** Undefined if all is well. */
async function checkKnown(store: PhotoStore, where: string, known: KnownPhotos): Promise<Judgement | undefined> {
  const { mark, picture, originalsMissing } = known;
  const found = await readMarkFile(store);
  const uploads = 'uploads are 503, and no photo is processed';
  if (found !== undefined && found !== mark.id) {
    const problem = `${where} is that of another store (its ${markName} is not that of this one): ${uploads}.`;
    return broken(problem, "Correct HOMEWARD_PHOTOS or DATABASE_URL. If it is right, as after a restore: 'homeward photos mark'.");
  }
  if (found === undefined && mark.isWritten) {
    const problem = `${where} does not have the photos of this store (${markName} is missing): ${uploads}.`;
    return broken(problem, `${mounted} If they were moved without it, or are lost for good: 'homeward photos mark'.`);
  }
  if (picture !== undefined && (await store.sizeOf(pictureName(picture))) === undefined) {
    const problem = `${where} lacks the picture of a photo that is ready (${picture}): sites of partners show none.`;
    return broken(problem, `${mounted} 'homeward photos check' names all that are missing.`);
  }
  if (originalsMissing === 0) return undefined;
  const problem = `${counted(originalsMissing, 'photo')} can't be processed: the original is missing for more than a day.`;
  return warning(problem, 'Restore originals/ from the backup, or ask the partners to send these photos again.');
}

async function checkDirectory(directory: string): Promise<Judgement> {
  try {
    const folder = await within(timeoutMs, `stat of ${directory}`, firstExisting(directory));
    await access(folder, constants.W_OK | constants.X_OK);
    if (!(await stat(folder)).isDirectory()) throw Object.assign(new Error(), { code: 'ENOTDIR' });
    if (folder !== directory) return ok(`The directory ${directory} can be created.`);
    const parts = await within(timeoutMs, `reading ${directory}`, existingParts(directory));
    for (const part of parts) await access(part, constants.W_OK | constants.X_OK);
    // The weekly scan deletes what a process that was killed leaves in originals/.
    await within(timeoutMs, `writing to ${directory}`, tryFile(parts[0] ?? directory));
    return ok(`The directory ${directory} can be written.`);
  } catch (error) {
    const { code, message, path: file } = error as NodeJS.ErrnoException;
    const part = file?.startsWith(`${directory}/`) ? `, ${file.slice(directory.length + 1)}` : '';
    const found = `The directory for photos, ${directory}, can't be written (${code ?? message}${part}), so that uploads are 503.`;
    return broken(found, fixes[code ?? ''] ?? 'Correct HOMEWARD_PHOTOS, or give the directory to the user of the processes.');
  }
}

const fixes: Readonly<Record<string, string>> = {
  ENOSPC: 'Make room on its disk, or let it have more inodes.',
  EDQUOT: 'Raise the quota of the user of the processes, or make room.',
  EROFS: 'Its file system is read-only: look at the log of the kernel for the reason, then mount it writable.',
  EIO: 'Its disk fails: look at the log of the kernel, and restore photos to another one (docs/backup.md).',
};

const existingParts = async (directory: string): Promise<string[]> => {
  const parts = ['originals', 'photos'].map((part) => path.join(directory, part));
  const isThere = await Promise.all(parts.map(exists));
  return parts.filter((_, i) => isThere[i]);
};

/** The processes create what is missing of it. */
async function firstExisting(folder: string): Promise<string> {
  return (await exists(folder)) ? folder : firstExisting(path.dirname(folder));
}

const exists = (file: string): Promise<boolean> =>
  stat(file).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false;
      throw error;
    },
  );

async function checkBucket(s3: S3Config): Promise<Judgement> {
  try {
    await within(timeoutMs, 'listing it', listSome(s3));
    await within(timeoutMs, 'writing to it', tryObject(s3));
    return ok(`The bucket ${s3.bucket} at ${s3.endpoint} can be written.`);
  } catch (error) {
    const { message, cause } = error as Error;
    const found = `The bucket ${s3.bucket} at ${s3.endpoint} can't be used: ${(cause as Error | undefined)?.message ?? message}.`;
    return broken(found, fixOf(message));
  }
}

async function listSome(s3: S3Config): Promise<void> {
  for await (const _ of new S3Store(s3).list('photos')) return;
}

/** The weekly scan deletes what is left of a process that was killed. */
async function tryObject(s3: S3Config): Promise<void> {
  const store = new S3Store(s3);
  const name = `originals/doctor-${randomUUID()}` as const;
  await store.put(name, Buffer.alloc(1));
  await store.delete(name);
}

function fixOf(message: string): string {
  if (message.includes('NoSuchBucket')) return 'Create the bucket, or correct HOMEWARD_PHOTOS.';
  if (message.includes('InvalidAccessKeyId')) return 'Correct HOMEWARD_PHOTOS_S3_KEY_ID.';
  if (message.includes('SignatureDoesNotMatch')) return 'Correct HOMEWARD_PHOTOS_S3_SECRET, or the file that contains it.';
  if (message.includes('403')) return 'Allow the key to get, put, delete and list in this bucket.';
  return 'Correct HOMEWARD_PHOTOS_S3_ENDPOINT and HOMEWARD_PHOTOS_S3_REGION, or let this machine reach it.';
}

/** What decodes photos: it is sent an image of one pixel. */
export async function checkImages(socket: string): Promise<Judgement> {
  if (!socket) {
    const found =
      'HOMEWARD_IMAGES_SOCKET is not set here. If the worker has none either, photos are decoded by a child of it, which has its user: only a filter of the kernel separates it from the files and servers of the store.';
    return warning(found, "Run 'homeward images' with a user of its own and without a network, and set it for the worker.");
  }
  const timeout = AbortSignal.timeout(timeoutMs);
  const outcome = await probe(openPictureMaker(socket), timeout).catch((error: Error) => error.message);
  if (typeof outcome === 'string') {
    const fix = "Start 'homeward images' with this path, and let the user of the worker into the group of the socket.";
    return broken(`No photo is processed: ${outcome}.`, fix);
  }
  if (!('pictures' in outcome)) {
    const problem = timeout.aborted ? `does not respond within ${timeoutMs / 1_000} s` : 'made no picture of an image of one pixel';
    const found = `No photo is processed: homeward images at ${socket} ${problem}.`;
    return broken(found, "Look at the log of 'homeward images', and restart it.");
  }
  if (!outcome.isConfined) {
    const found = `homeward images at ${socket} decodes photos in a process that the kernel does not confine.`;
    return warning(found, 'Run it on Linux on x64 or arm64, with the Node.js of the release.');
  }
  return ok(`homeward images decodes photos at ${socket}.`);
}
