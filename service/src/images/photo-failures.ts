/** Why a photo could not be processed. The message is for the person who has sent it. */
export const photoFailures = {
  unreadable: 'The file is damaged or is not a JPEG, PNG or WebP image. Save it again, and send it again.',
  too_many_pixels: 'The image has more than 50 megapixels. Make it smaller, and send it again.',
  too_expensive: 'The image takes too much time or memory to process. Save it as a JPEG with fewer pixels, and send it again.',
  storage_limit: 'The client stores as many bytes of photos as its plan allows. Remove photos, and send this one again a day later.',
  not_processed: 'The image could not be processed in 5 attempts. Send it again, or save it as a JPEG first.',
} as const;

export type PhotoFailure = keyof typeof photoFailures;
