import { openPictureMaker, probe } from '../../store/photos/picture-maker.ts';
import { broken, type Judgement, ok, warning } from './finding.ts';

const timeoutMs = 5_000;

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
