import { Readable } from 'node:stream';
import { type DecoderBounds, runImageChild } from './image-child.ts';
import { type DecodingOutcome, readReply } from './image-reply.ts';
import { askForPictures } from './images-client.ts';
import type { StoredFile } from './photo-store.ts';

/** Makes the pictures of an image. Throws if no image can be decoded at the moment: then this one is not to blame. */
export type PictureMaker = (original: StoredFile, signal?: AbortSignal) => Promise<DecodingOutcome>;

/** Asks `homeward images`, which listens on the socket. Without a socket, a child of this process decodes. */
export function openPictureMaker(imagesSocket: string): PictureMaker {
  return imagesSocket ? (original, signal) => askForPictures(imagesSocket, original, { signal }) : makePictures;
}

/** By a child of this process. */
export async function makePictures(original: StoredFile, signal?: AbortSignal, bounds?: DecoderBounds): Promise<DecodingOutcome> {
  const end = await runImageChild(original, signal, bounds);
  return 'output' in end ? readReply(end.output) : end;
}

/** A PNG of one pixel. */
const probeImage = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAACXBIWXMAAAPoAAAD6AG1e1JrAAAADElEQVQImWO4tKUHAARuAhMGD8TbAAAAAElFTkSuQmCC',
  'base64',
);

/** Whether a valid image becomes a picture, and whether the process that decodes it is confined. */
export const probe = (make: PictureMaker, signal?: AbortSignal): Promise<DecodingOutcome> =>
  make({ bytes: probeImage.length, stream: Readable.from([probeImage]) }, signal);
