const width = 40;

/** A bar on a terminal; nothing elsewhere. */
export function drawBar(done: number, of: number): void {
  const share = done / Math.max(of, 1);
  const filled = Math.round(share * width);
  draw(`[${'#'.repeat(filled)}${'.'.repeat(width - filled)}] ${Math.floor(share * 100)}%`);
}

/** Where the end is not known. */
export const drawCount = (done: number): void => draw(`${done} …`);

export const endProgress = (): void => draw('');

function draw(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`);
}
