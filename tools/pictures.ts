// npm run pictures [PART…]: makes the pictures of README.md, in docs/figures, and of the guides, in docs/guides/assets, from a real store, the
// example site, the console and a browser. A part is windows, console, day or promised.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { recordAdoption } from './picture-adoption.ts';
import { drawConsole, drawFirstDay } from './picture-console.ts';
import { loadEncoder } from './picture-encoder.ts';
import { addresses, Stage } from './picture-stage.ts';
import { drawWindows, margin, pictureWidth, type Theme, viewportOf } from './picture-windows.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const stillBytesMax = 250_000;
const loopBytesMax = 600_000;
/** A page has ten of them. */
const guideBytesMax = 80_000;

/** Photos are loaded when they are scrolled to. */
const waitForPhotos = `Promise.all(
  [...document.images].filter((image) => image.getBoundingClientRect().top < innerHeight).map((image) => image.decode()),
).then(() => true)`;

const shown = { width: (pictureWidth - 3 * margin) / 2, height: 490 };

const chosen = process.argv.slice(2);
const isChosen = (part: string) => chosen.length === 0 || chosen.includes(part);
await using stage = await Stage.open({ hasNewest: isChosen('windows') || isChosen('promised') });
const { encodeStill, encodeLoop } = await loadEncoder();
const themes = ['light', 'dark'] as const;
const figures = 'docs/figures';
const parts: Readonly<Record<string, () => Promise<void>>> = {
  windows: async () => {
    for (const theme of themes)
      save(`${figures}/site-and-docs-${theme}.webp`, await encodeStill(await drawSiteAndDocs(theme)), stillBytesMax);
  },
  console: async () => {
    for (const theme of themes) save(`${figures}/console-${theme}.webp`, await encodeStill(await drawConsole(stage, theme)), stillBytesMax);
  },
  day: async () => {
    for (const { name, png } of await drawFirstDay(stage)) save(`docs/guides/assets/${name}`, await encodeStill(png), guideBytesMax);
  },
  // Last: it adopts.
  promised: async () => {
    for (const theme of themes)
      save(`${figures}/promised-${theme}.webp`, await encodeLoop(await recordAdoption(stage, theme)), loopBytesMax);
  },
};
for (const [name, draw] of Object.entries(parts)) if (isChosen(name)) await draw();

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
  console.log(`${name}: ${Math.round(bytes.length / 1_000)} kB`);
  if (bytes.length > bytesMax) throw new Error(`${name} must be ${bytesMax / 1_000} kB at most`);
  writeFileSync(path.join(root, name), bytes);
}
