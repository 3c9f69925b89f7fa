// How a worker asks `homeward images` for the pictures of an image. One image on a connection:
// - The worker sends the number of bytes (32 bits, big-endian) and the bytes, and keeps the connection open. If it closes it, decoding
//   ends. The number 0 asks only whether somebody listens.
// - The reply is that of image-process.ts (see image-reply.ts), or one of the lines below. Then `homeward images` closes.

/** The length before an image. */
export const headBytes = 4;

export const readyLine = '{"ready":true}\n';

/** It decodes nothing at the moment, whatever the image. */
export const unavailableLine = (why: 'busy' | 'stopping') => `{"unavailable":"${why}"}\n`;
const unavailable = /^\{"unavailable":"(busy|stopping)"\}\n$/;
const lineBytesMax = 100;

/** Undefined: it is another reply. */
export const readUnavailable = (reply: Buffer): string | undefined => unavailable.exec(reply.toString('latin1', 0, lineBytesMax))?.[1];
