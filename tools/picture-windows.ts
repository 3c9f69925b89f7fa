// Draws screenshots in the frames of browser windows, side by side.
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';

export type Theme = 'light' | 'dark';

/** A visitor's viewport in CSS pixels, and how many pixels of the picture each gets. */
export interface Viewport {
  readonly width: number;
  readonly height: number;
  readonly scale: number;
}

export interface Window {
  readonly address: string;
  readonly screenshot: Buffer;
  /** In CSS pixels of the picture. */
  readonly width: number;
}

export interface Pointer {
  /** In CSS pixels of the picture. */
  readonly x: number;
  readonly y: number;
  readonly isPressed: boolean;
}

/** A README is about this wide on a code host; at two pixels per CSS pixel, text is sharp there. */
export const pictureWidth = 880;
export const pixelRatio = 2;
export const margin = 20;
export const barHeight = 30;

const font = readFileSync(new URL('../examples/adoption-site/public/fonts/figtree.woff2', import.meta.url));

const colours: Readonly<Record<Theme, string>> = {
  light: '--desk: #f1e4d3; --bar: #fbf5ec; --edge: #dccab3; --text: #6d5848; --dot: #dccab3; --shadow: 90 55 25',
  dark: '--desk: #33261d; --bar: #2c231d; --edge: #43362d; --text: #c7b3a2; --dot: #55463b; --shadow: 0 0 0',
};

/** The viewport of a page that is shown in a window, both sizes in CSS pixels. A pixel of the screenshot is a pixel of the picture. */
export function viewportOf(pageWidth: number, shown: { width: number; height: number }): Viewport {
  const shrink = shown.width / pageWidth;
  return { width: pageWidth, height: Math.round(shown.height / shrink), scale: shrink * pixelRatio };
}

/** The page must have a viewport of `pictureWidth` and a scale of `pixelRatio`. */
export async function drawWindows(page: Page, theme: Theme, windows: readonly Window[], pointer?: Pointer): Promise<Buffer> {
  await page.setContent(`<!doctype html><style>
    @font-face { font-family: Figtree; src: url(${dataUrl('font/woff2', font)}) }
    :root { ${colours[theme]}; overflow: hidden }
    body { position: relative; margin: 0; padding: ${margin}px; display: flex; justify-content: space-between; background: transparent; font: 12.5px Figtree }
    body::before { content: ''; position: absolute; inset: 0; z-index: -1; border-radius: 18px; background: var(--desk) }
    figure { margin: 0; overflow: hidden; border: 1px solid var(--edge); border-radius: 10px; box-shadow: 0 6px 18px rgb(var(--shadow) / 18%) }
    figcaption { display: flex; align-items: center; gap: 6px; height: ${barHeight - 2}px; padding: 0 10px; background: var(--bar); border-bottom: 1px solid var(--edge); color: var(--text) }
    i { width: 9px; height: 9px; border-radius: 9px; background: var(--dot) }
    span { margin-left: 8px; overflow: hidden; white-space: nowrap; text-overflow: ellipsis }
    img { display: block }
    svg { position: absolute; filter: drop-shadow(0 1px 2px rgb(0 0 0 / 40%)) }
  </style><body>${windows.map(windowHtml).join('')}${pointer ? pointerHtml(pointer) : ''}`);
  await page.evaluate('Promise.all([document.fonts.ready, ...[...document.images].map((one) => one.decode())]).then(() => true)');
  return page.screenshot({ fullPage: true, omitBackground: true });
}

const windowHtml = ({ address, screenshot, width }: Window): string =>
  `<figure style="width: ${width}px"><figcaption><i></i><i></i><i></i><span>${address.replace('http://', '')}</span></figcaption><img width="${width}" src="${dataUrl('image/png', screenshot)}"></figure>`;

const dataUrl = (type: string, bytes: Buffer): string => `data:${type};base64,${bytes.toString('base64')}`;

const pointerHtml = ({ x, y, isPressed }: Pointer): string =>
  `<svg style="left: ${x}px; top: ${y}px" width="${isPressed ? 17 : 20}" viewBox="0 0 16 20"><path d="M1 1v15l4-4 3 7 3-1-3-7h6z" fill="#fff" stroke="#222" stroke-width="1.2"/></svg>`;
