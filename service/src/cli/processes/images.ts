import closeWithGrace from 'close-with-grace';
import type { Command } from 'commander';
import { listenForImages } from '../../images/images-server.ts';
import { makePictures, probe } from '../../images/picture-maker.ts';
import { type ImagesConfig, loadImagesConfig, type ReadConfig } from '../../platform/config.ts';
import { openLog } from '../../platform/log.ts';

/** Longer than the images in progress get. */
const closeTimeoutMs = 8_000;

export function addImagesCommand(program: Command, _: ReadConfig, env: Readonly<Record<string, string | undefined>>): void {
  program
    .command('images')
    .description('decode photos for the worker, on the Unix socket HOMEWARD_IMAGES_SOCKET; run it with a user of its own and no network')
    .action(() => serveImages(loadImagesConfig(env)));
}

/** Until SIGTERM or SIGINT. Then finishes the images in progress, or gives them back to the worker after some seconds. */
async function serveImages({ socket, logLevel }: ImagesConfig): Promise<void> {
  // Before it listens: that the decoder can't be loaded must not be found out by photos.
  const tried = await probe(makePictures);
  if (!('pictures' in tried)) throw new Error(`An image of one pixel can't be decoded: ${JSON.stringify(tried)}`);
  const { log, endLog } = openLog({ logLevel });
  const server = await listenForImages(socket, log);
  closeWithGrace({ delay: closeTimeoutMs, logger: false }, async ({ err }) => {
    if (err) log.fatal({ err }, 'uncaught');
    await server[Symbol.asyncDispose]();
    log.info('closed');
    await endLog();
  });
  if (!tried.isConfined) log.warn('the kernel does not confine what decodes images: that needs Linux on x64 or arm64, and Node.js 26.1');
  // Only now: a program that waits for this line may then stop the process, and that must work.
  log.info({ socket }, 'listening for images');
}
