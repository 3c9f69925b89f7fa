import type { IncomingMessage } from 'node:http';
import { SignedOut } from '../../access/principals/principals.ts';
import { storeOriginal } from '../../animals/photos/originals.ts';
import { requireHere } from '../../animals/photos/photo-mark.ts';
import { photosMax } from '../../animals/photos/photo-schemas.ts';
import { type AddedPhoto, addPhoto, photosOff, requireWriter } from '../../animals/photos/photos.ts';
import { requireAllowance, UploadSlots } from '../../animals/photos/upload-allowance.ts';
import { asUploadError, readInTime, receivePhoto, requirePhotoHeaders, requireRoom } from '../../animals/photos/upload-listener.ts';
import { type PhotoFailure, photoBytesMax, photoFailures } from '../../images/image-types.ts';
import type { PhotoStore } from '../../images/photo-store.ts';
import type { Transactor } from '../../platform/db/handles.ts';
import { AppError, type ErrorCode } from '../../platform/errors.ts';
import { lingerOnClose } from '../../platform/http/protocol/connections.ts';
import { malformedForm, readParts, type SentFile } from '../forms/multipart.ts';
import { fromElsewhere } from '../screens/page-error.ts';
import { hiddenFields, isFormToken, type Visit } from '../screens/visit.ts';

/** What became of a file of a form. */
export interface SentPhoto {
  readonly fileName: string;
  readonly result: AddedPhoto | AppError;
}

interface Parts {
  readonly db: Transactor;
  /** Undefined: photos are off. */
  readonly store: PhotoStore | undefined;
  /** Uploads end. */
  readonly stopping: AbortSignal;
}

/** Both file fields of the form are sent, also the one in which nothing was chosen. */
const filesMax = photosMax + 1;
const formBytesMax = photosMax * photoBytesMax + 100_000;
const fileNameLengthMax = 80;

/** Photos that people send: as over the API, with its slots, allowances and time. */
export class PhotoUploads {
  readonly #parts: Parts;
  readonly #slots = new UploadSlots();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  get isOff(): boolean {
    return this.#parts.store === undefined;
  }

  /** One photo, which a script sends as it is. */
  async receiveFile(visit: Visit, petId: bigint, request: IncomingMessage): Promise<AddedPhoto> {
    const { db, stopping } = this.#parts;
    const { store, slot } = await this.#open(visit, petId, request, () => requirePhotoHeaders(request));
    using _slot = slot;
    const original = await receivePhoto(store, request, stopping);
    return await addPhoto({ db, store }, petId, original, visit.caller);
  }

  /** The photos of a form. Its token is read before any of them. */
  async receiveForm(visit: Visit, petId: bigint, request: IncomingMessage): Promise<readonly SentPhoto[]> {
    const { store, slot } = await this.#open(visit, petId, request, () => requireFormHeaders(request));
    using _slot = slot;
    const sent: SentPhoto[] = [];
    const isOwn = await readInTime(request, this.#parts.stopping, async (body) => {
      let isKnown = false;
      for await (const part of readParts(request.headers['content-type'] ?? '', body, { filesMax })) {
        if ('value' in part) isKnown ||= part.name === hiddenFields.token && isFormToken(part.value, visit);
        else if (!isKnown) return false;
        else sent.push(...(await this.#add(store, visit, petId, part, sent.find(isForAll)?.result)));
      }
      return isKnown;
    });
    if (isOwn) return sent;
    // What was not read is discarded, with the connection.
    lingerOnClose(request);
    throw fromElsewhere();
  }

  /** None for the field in which nothing was chosen: it is sent without a name and without a byte. */
  async #add(
    store: PhotoStore,
    { caller }: Visit,
    petId: bigint,
    { fileName, content }: SentFile,
    before: SentPhoto['result'] | undefined,
  ): Promise<SentPhoto[]> {
    const sent = (result: SentPhoto['result']) => [{ fileName: shownName(fileName), result }];
    if (before) return fileName === '' ? [] : sent(before);
    try {
      const original = await storeOriginal(store, content);
      return sent(await addPhoto({ db: this.#parts.db, store }, petId, original, caller));
    } catch (thrown) {
      if (thrown instanceof SignedOut) throw thrown;
      const error = asUploadError(thrown);
      return fileName === '' && error.code === 'unsupported_image' ? [] : sent(error);
    }
  }

  /** Everything that can be known before a byte of the body is read. */
  async #open(
    visit: Visit,
    petId: bigint,
    request: IncomingMessage,
    requireHeaders: () => void,
  ): Promise<{ store: PhotoStore; slot: Disposable }> {
    const { db, store } = this.#parts;
    const { caller } = visit;
    try {
      await requireWriter(db, petId, caller);
      if (!store) throw photosOff();
      requireHeaders();
      await requireAllowance(db, caller, Number(request.headers['content-length'] ?? 1));
      await requireRoom(store);
      await requireHere(db, store);
      return { store, slot: this.#slots.take(caller) };
    } catch (error) {
      lingerOnClose(request);
      throw error;
    }
  }
}

function requireFormHeaders({ headers }: IncomingMessage): void {
  if (!/^multipart\/form-data\s*;/i.test(headers['content-type'] ?? '') || headers['content-length'] === undefined)
    throw malformedForm('it is of another type, or its length is not given');
  if (Number(headers['content-length']) > formBytesMax)
    throw new AppError('photo_too_large', `These are more than ${formBytesMax / 1e6} MB at once.`);
}

/** Why the files after it have no chance either: they are not stored. */
const isForAll = ({ result }: SentPhoto): boolean =>
  result instanceof AppError && result.code !== 'unsupported_image' && result.code !== 'photo_too_large';

/** As a page shows it: without characters that are not seen, or that would turn what follows around. */
function shownName(fileName: string): string {
  const shown = [...fileName.replaceAll(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}\u2028\u2029]/gu, '')].slice(0, fileNameLengthMax).join('');
  return shown.trim() === '' ? 'A file without a name' : shown;
}

/** What a browser offers to choose. A phone converts its own format to one of them. */
export const photoTypes = 'image/jpeg,image/png,image/webp';

export const photoMegabytesMax = photoBytesMax / 1_000_000;

/** Why a photo was not accepted, and what to do, for who has chosen it on a phone. */
const rejections: Partial<Record<ErrorCode, string>> = {
  unsupported_image:
    'This is no JPEG, PNG or WebP, or is damaged. Save it as a JPEG, and choose that. A HEIC photo becomes one if you choose it on the iPhone itself.',
  photo_too_large: `It has more than ${photoMegabytesMax} MB. Save it with fewer pixels, and choose that.`,
  upload_too_slow: 'The line was too slow. Try again where the signal is better, or with fewer photos at once.',
  too_many_uploads:
    'Too many photos are being sent at this moment, by you or by others of your shelter. Wait a few seconds, and send it again.',
  photo_limit_reached: `The animal has ${photosMax} photos, as many as there can be. Remove one first.`,
  photo_bytes_limit: 'Your shelter has sent as many photos today as its plan allows. Send it after midnight UTC.',
  photo_storage_limit: 'The photos of your shelter take as much room as its plan allows. Remove some, or ask the store for another plan.',
  photo_storage_full: 'The store has no room for photos at the moment. Tell the people who run it.',
  photos_off: 'This store takes no photos. The people who run it can change that.',
  malformed_request: 'It did not arrive whole. Send it again.',
  unavailable: "It can't be stored at this moment. Wait a minute, and send it again.",
};

/** Undefined: not an error of an upload. */
export const explainRejection = ({ code }: AppError): string | undefined => rejections[code];

/** Why a photo that was accepted can't be shown, and what to do. */
export const explainPhotoFailure = (failure: PhotoFailure | null): string =>
  failure === 'storage_limit' ? (rejections.photo_storage_limit ?? '') : photoFailures[failure ?? 'not_processed'];
