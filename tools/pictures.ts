// npm run pictures: makes the pictures of README.md, in docs/figures, from a real store, the example site and a browser.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { recordAdoption } from './picture-adoption.ts';
import { loadEncoder } from './picture-encoder.ts';
import { addresses, Stage } from './picture-stage.ts';
import { drawWindows, margin, pictureWidth, type Theme, viewportOf } from './picture-windows.ts';

const folder = fileURLToPath(new URL('../docs/figures/', import.meta.url));
const stillBytesMax = 250_000;
const loopBytesMax = 600_000;

/** Photos are loaded when they are scrolled to. */
const waitForPhotos = `Promise.all(
  [...document.images].filter((image) => image.getBoundingClientRect().top < innerHeight).map((image) => image.decode()),
).then(() => true)`;

const shown = { width: (pictureWidth - 3 * margin) / 2, height: 490 };

await using stage = await Stage.open();
const { encodeStill, encodeLoop } = await loadEncoder();
const themes = ['light', 'dark'] as const;
for (const theme of themes) save(`site-and-docs-${theme}.webp`, await encodeStill(await drawSiteAndDocs(theme)), stillBytesMax);
for (const theme of themes) save(`promised-${theme}.webp`, await encodeLoop(await recordAdoption(stage, theme)), loopBytesMax);

async function drawSiteAndDocs(theme: Theme): Promise<Buffer> {
  const [site, docs, desk] = await Promise.all([
    stage.visit(addresses.site, theme, viewportOf(640, shown)),
    stage.visit(addresses.docs, theme, viewportOf(700, shown)),
    stage.openDesk(theme),
  ]);
  // The animals, and not the form above them.
  await site.evaluate(`document.querySelector('.chips').scrollIntoView()`);
  await site.evaluate(waitForPhotos);
  return drawWindows(desk, theme, [
    { address: addresses.site, screenshot: await site.screenshot(), width: shown.width },
    { address: addresses.docs, screenshot: await docs.screenshot(), width: shown.width },
  ]);
}

function save(name: string, bytes: Buffer, bytesMax: number): void {
  console.log(`docs/figures/${name}: ${Math.round(bytes.length / 1_000)} kB`);
  if (bytes.length > bytesMax) throw new Error(`${name} must be ${bytesMax / 1_000} kB at most`);
  writeFileSync(path.join(folder, name), bytes);
}
