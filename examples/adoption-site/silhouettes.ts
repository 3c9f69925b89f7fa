// An animal without a photo is shown as a silhouette of its kind: what it looks like is not known, so nothing about it is made up.
// A page contains each silhouette once, as a symbol; the colour comes from public/style.css.
import type { Pet } from '@homeward/sdk';
import { Html, html } from './html.ts';

/** Mirrored at the middle of a box of 120 by 120. */
const both = (half: string) => `${half}<g transform="matrix(-1 0 0 1 120 0)">${half}</g>`;
const shoulders = '<path d="M14 124c0-28 20-42 46-42s46 14 46 42z"/>';

const shapes = {
  dog: `${shoulders}<ellipse cx="60" cy="62" rx="34" ry="32"/>${both('<path d="M44 32c-22-6-33 10-32 32 0 13 9 18 15 11 6-8 8-22 17-43z"/>')}`,
  cat: `${shoulders}<ellipse cx="60" cy="63" rx="36" ry="30"/>${both('<path d="M26 60V18q0-5 5-1l28 20z"/>')}`,
  rabbit: `${shoulders}<ellipse cx="60" cy="67" rx="31" ry="28"/>${both('<path d="M54 46C38 36 31 15 38 5c7-7 19 6 20 39z"/>')}`,
  bird: '<path d="M28 52 8 60l22 8c2 28 18 48 46 50l34 6-16-26c4-34-8-66-38-66-16 0-26 8-28 20z"/>',
  rodent: `<path d="M60 32c28 0 46 20 46 48 0 26-14 44-46 44s-46-18-46-44c0-28 18-48 46-48z"/>${both('<circle cx="31" cy="38" r="14"/>')}`,
  reptile:
    '<path d="M10 100c0-36 20-58 44-58 20 0 34 14 40 30l2-8c-2-16 4-24 12-24 9 0 12 8 11 17-2 16-12 22-17 37v22H84v-12H34v12H16v-12H6z"/>',
  fish: '<path d="M4 66c10-24 32-36 54-34 16 1 28 10 36 22 6-10 14-15 22-14-6 14-6 38 0 52-8 1-16-4-22-14-8 12-20 20-36 22C36 102 14 90 4 66z"/>',
  horse: '<path d="M62 10l8 14c22 8 34 34 34 100H48c-2-18 2-28 8-40-8 4-14 14-24 16-8 2-14-4-16-10-2-8 14-22 20-34 5-10 8-20 18-28z"/>',
  cow: `${shoulders}<path d="M60 26c20 0 30 12 30 30 0 22-8 42-30 42S30 78 30 56c0-18 10-30 30-30z"/>${both('<path d="M40 36Q26 32 26 12q9 6 22 14zM32 44Q14 36 7 48q4 16 26 13z"/>')}`,
  paw: `${both('<ellipse cx="24" cy="58" rx="11" ry="15" transform="rotate(-20 24 58)"/><ellipse cx="46" cy="34" rx="12" ry="17" transform="rotate(-6 46 34)"/>')}<path d="M60 58c16 0 30 20 30 34 0 12-10 14-18 11-8-2-16-2-24 0-8 3-18 1-18-11 0-14 14-34 30-34z"/>`,
} as const;
type Shape = keyof typeof shapes;

/** By the ids of the categories that every store starts with; a store may add others. */
const shapesOfCategory: Readonly<Record<string, Shape>> = {
  1: 'dog',
  2: 'cat',
  3: 'rabbit',
  4: 'bird',
  5: 'rodent',
  6: 'reptile',
  7: 'fish',
  8: 'horse',
  9: 'cow',
};

const shapeOf = ({ categoryId }: Pick<Pet, 'categoryId'>): Shape => shapesOfCategory[String(categoryId)] ?? 'paw';

/** The symbols for these animals, each once per page. */
export function symbolsFor(animals: ReadonlyArray<Pick<Pet, 'categoryId'>>): Html {
  const symbols = [...new Set(animals.map(shapeOf))].map(
    (shape) => new Html(`<symbol id="${shape}" viewBox="0 0 120 120">${shapes[shape]}</symbol>`),
  );
  return symbols.length === 0 ? new Html('') : html`<svg class="symbols" aria-hidden="true">${symbols}</svg>`;
}

export const silhouetteOf = (animal: Pick<Pet, 'categoryId' | 'status'>): Html =>
  html`<span class="silhouette" aria-hidden="true"><svg viewBox="0 0 120 120" preserveAspectRatio="xMidYMax"><use href="#${shapeOf(animal)}"/></svg><span>${animal.status === 'sold' ? 'No photo' : 'Photo coming'}</span></span>`;
