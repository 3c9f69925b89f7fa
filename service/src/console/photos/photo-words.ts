import type { AppError, ErrorCode } from '../../platform/errors.ts';
import { photoBytesMax } from '../../store/photos/image-types.ts';
import { type PhotoFailure, photoFailures } from '../../store/photos/photo-failures.ts';
import { photosMax } from '../../store/photos/photo-schemas.ts';

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
