// Encodes screenshots as WebP, which browsers and code hosts show, still or animated.
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { installOnDemand } from './install-on-demand.ts';

export interface Frame {
  readonly png: Buffer;
  /** How long it is shown. */
  readonly ms: number;
}

export interface Encoder {
  encodeStill(png: Buffer): Promise<Buffer>;
  /** Repeats for ever. */
  encodeLoop(frames: readonly Frame[]): Promise<Buffer>;
}

/** The part of sharp's types that is used here: the package is not installed with the project. */
type Sharp = (input: Buffer | readonly Buffer[], options?: { join: { animated: true } }) => SharpImage;
interface SharpImage {
  webp(options: object): { toBuffer(): Promise<Buffer> };
}

const folder = fileURLToPath(new URL('./image-encoder', import.meta.url));
const thorough = { effort: 6, smartSubsample: true };

/** Installs sharp when it is first needed. */
export async function loadEncoder(): Promise<Encoder> {
  await installOnDemand(folder, 'an image encoder (tools/image-encoder)');
  const entry = path.join(folder, 'node_modules/sharp/dist/index.mjs');
  const { default: sharp } = (await import(pathToFileURL(entry).href)) as { default: Sharp };
  return {
    encodeStill: (png) =>
      sharp(png)
        .webp({ ...thorough, quality: 88 })
        .toBuffer(),
    encodeLoop: (frames) =>
      sharp(
        frames.map(({ png }) => png),
        { join: { animated: true } },
      )
        .webp({ ...thorough, quality: 80, minSize: true, loop: 0, delay: frames.map(({ ms }) => ms) })
        .toBuffer(),
  };
}
