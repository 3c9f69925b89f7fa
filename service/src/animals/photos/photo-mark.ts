import { text } from 'node:stream/consumers';
import { markName, type PhotoStore, pictureName } from '../../images/photo-store.ts';
import type { Db, Writer } from '../../platform/db/handles.ts';
import { AppError } from '../../platform/errors.ts';
import {
  getRecordedMark,
  type RecordedMark,
  replaceMark,
  selectLatestOriginals,
  selectLatestPictures,
  setMarkWritten,
} from './mark-queries.ts';
import { notStored } from './upload-listener.ts';

/**
 * Whether the directory or bucket is that of the store's photos:
 * - `own`: the id beside the photos is the one that PostgreSQL has.
 * - `none yet`: no worker has written it.
 * - `missing`: it was there, or pictures were. The disk is not mounted, or is another one.
 * - `other`: another store has written its own.
 */
export type PhotoMark = 'own' | 'none yet' | 'missing' | 'other';

const markBytesMax = 100;

export { getRecordedMark, type RecordedMark };

/** If none of so many is here, the photos are not. */
const filesMax = 10;

export class PhotosElsewhere extends Error {}

export const readMark = async (db: Db, store: PhotoStore): Promise<PhotoMark> => compare(db, store, await getRecordedMark(db));

async function compare(db: Db, store: PhotoStore, { id, isWritten }: RecordedMark): Promise<PhotoMark> {
  const found = await readMarkFile(store);
  if (found !== undefined) return found === id ? 'own' : 'other';
  return isWritten ? 'missing' : judgeUnmarked(db, store);
}

/** For the worker, before it changes anything: writes the mark if there is none yet. Throws `PhotosElsewhere` if the photos are not here. */
export async function requireMark(db: Db & Writer, store: PhotoStore): Promise<void> {
  const recorded = await getRecordedMark(db);
  const mark = await compare(db, store, recorded);
  if (mark === 'missing' || mark === 'other') throw new PhotosElsewhere(textOf(mark));
  if (mark === 'none yet') await store.put(markName, markOf(recorded.id));
  // Otherwise a worker was killed between the two.
  if (!recorded.isWritten) await setMarkWritten(db);
}

/** For uploads. Throws if the photos are not here: what is stored now would not be found again. */
export async function requireHere(db: Db, store: PhotoStore): Promise<void> {
  const mark = await readMark(db, store).catch((cause: unknown) => {
    throw cause instanceof AppError ? cause : notStored(cause);
  });
  if (mark !== 'missing' && mark !== 'other') return;
  const message = "Photos can't be stored at the moment: the store does not find those that it has. Retry in 60 s.";
  throw new AppError('unavailable', message, { cause: textOf(mark), headers: { 'retry-after': '60' } });
}

/** Says that the photos of this store are in this directory or bucket from now on. */
export async function writeMark(db: Db & Writer, store: PhotoStore): Promise<void> {
  // If the file can't be written then, nothing has this id, and nothing is done there.
  await store.put(markName, markOf(await replaceMark(db)));
}

const markOf = (id: string): Buffer => Buffer.from(`${id}\n`);

const textOf = (mark: 'missing' | 'other'): string =>
  mark === 'missing'
    ? `the photos of this store are not where HOMEWARD_PHOTOS says (there is no ${markName})`
    : `HOMEWARD_PHOTOS names the photos of another store (${markName} is not that of this one, or there are pictures without it)`;

/** Whether a place without a mark is that of the store, by the files that it must have. A new store takes only an empty one. */
async function judgeUnmarked(db: Db, store: PhotoStore): Promise<PhotoMark> {
  const pictures = (await selectLatestPictures(db, filesMax)).map(pictureName);
  const expected = [...pictures, ...(await selectLatestOriginals(db, filesMax))];
  for (const name of expected) if ((await store.sizeOf(name)) !== undefined) return 'none yet';
  if (expected.length > 0) return 'missing';
  for await (const _ of store.list('photos')) return 'other';
  return 'none yet';
}

/** The id that is beside the photos. Undefined if there is none. */
export async function readMarkFile(store: PhotoStore): Promise<string | undefined> {
  const file = await store.get(markName);
  if (!file) return undefined;
  if (file.bytes > markBytesMax) {
    file.stream.destroy();
    return '';
  }
  return (await text(file.stream)).trim();
}
