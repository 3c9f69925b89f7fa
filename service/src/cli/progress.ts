const width = 40;

/** Draws a progress bar on a terminal. Draws nothing if standard error is not a terminal. */
export function drawBar(done: number, of: number): void {
  const share = done / Math.max(of, 1);
  const filled = Math.round(share * width);
  draw(`[${'#'.repeat(filled)}${'.'.repeat(width - filled)}] ${Math.floor(share * 100)}%`);
}

/** Shows a count, for work whose total is unknown. */
export const drawCount = (done: number): void => draw(`${done} …`);

/** Shows what is waited for. */
export const drawText = (text: string): void => draw(text);

export const endProgress = (): void => draw('');

function draw(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`);
}
