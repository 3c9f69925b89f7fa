// An animal without a photo gets a drawing: the kind from its category, the breed and the colours from its id.
// A page contains each kind once, as a symbol; the colours come from public/style.css.
import { createHash } from 'node:crypto';
import type { Pet } from '@homeward/sdk';
import { Html, html } from './html.ts';

const coats = 6;
const backgrounds = 5;

const ink = '#2b1d16';
const eyes = (y: number, apart: number) =>
  [60 - apart, 60 + apart]
    .map((x) => `<circle cx="${x}" cy="${y}" r="4.5" fill="${ink}"/><circle cx="${x + 1.5}" cy="${y - 1.6}" r="1.5" fill="#fff"/>`)
    .join('');
const both = (half: string) => `${half}<g transform="matrix(-1 0 0 1 120 0)">${half}</g>`;
const line = (d: string, width = 2.5) => `<path d="${d}" fill="none" stroke="${ink}" stroke-width="${width}" stroke-linecap="round"/>`;
const body = `<path d="M18 124c0-26 18-40 42-40s42 14 42 40z" fill="var(--coat)"/><path d="M40 124c0-14 8-22 20-22s20 8 20 22z" fill="var(--pale)"/>`;
const smile = (y: number) => line(`M60 ${y}v4m-9 1q4.5 5 9-1q4.5 6 9 1`);

const kinds = {
  dog: `${body}<ellipse cx="60" cy="62" rx="34" ry="32" fill="var(--coat)"/><path d="M62 31c18-1 31 12 32 29-9 12-25 10-29-3-3-9-4-19-3-26z" fill="var(--patch)"/>
    ${both('<path d="M35 36c-14-4-24 10-23 31 0 12 9 17 14 10 5-8 4-20 14-33z" fill="var(--deep)"/>')}
    <ellipse cx="60" cy="78" rx="19" ry="15" fill="var(--pale)"/>${eyes(58, 15)}
    <path d="M55 86q5 14 10 0z" fill="#e5787a"/><path d="M52 70q8-5 16 0q-2 8-8 8t-8-8z" fill="${ink}"/>${smile(77)}`,
  shepherd: `${body}${both('<path d="M29 56 21 15q0-6 6-3l27 24z" fill="var(--deep)"/><path d="m32 44-4-20 16 14z" fill="#e9a29b"/>')}
    <path d="M60 30c21 0 36 13 36 32 0 12-6 18-14 22-4 9-12 12-22 12s-18-3-22-12c-8-4-14-10-14-22 0-19 15-32 36-32z" fill="var(--coat)"/>
    <path d="M53 30h14l-2 24q-1 8 6 12c8 4 9 10 7 16-3 9-9 12-18 12s-15-3-18-12c-2-6-1-12 7-16q7-4 6-12z" fill="var(--pale)"/>${eyes(59, 16)}
    <path d="M55 86q5 13 10 0z" fill="#e5787a"/><path d="M52 70q8-5 16 0q-2 8-8 8t-8-8z" fill="${ink}"/>${smile(77)}`,
  cat: `${body}${both('<path d="M27 52 26 18q0-4 4-1l24 19z" fill="var(--coat)"/><path d="m32 40-1-14 14 10z" fill="#e9a29b"/>')}
    <ellipse cx="60" cy="63" rx="36" ry="30" fill="var(--coat)"/><path d="M60 33c22 0 36 12 36 29-14 8-30 0-33-12z" fill="var(--patch)"/>
    <path d="M57 34h6l-3 14zM46 36l5-1 1 11zM74 36l-5-1-1 11z" fill="var(--deep)"/>
    <ellipse cx="60" cy="76" rx="14" ry="10" fill="var(--pale)"/>${eyes(61, 17)}
    <path d="m55 70h10l-5 6z" fill="#d9716f"/>${smile(75)}${both(line('M36 73 16 69m20 9-20 2', 1.8))}`,
  tuxedo: `${body}${both('<path d="M27 52 26 18q0-4 4-1l24 19z" fill="var(--deep)"/><path d="m32 40-1-14 14 10z" fill="#e9a29b"/>')}
    <ellipse cx="60" cy="63" rx="36" ry="30" fill="var(--deep)"/>
    <path d="M60 42c4 10 6 18 14 22 10 5 12 12 8 19-4 7-12 10-22 10s-18-3-22-10c-4-7-2-14 8-19 8-4 10-12 14-22z" fill="var(--pale)"/>
    ${both('<circle cx="43" cy="60" r="8.5" fill="#e8cf6e"/>')}${eyes(60, 17)}
    <path d="m55 70h10l-5 6z" fill="#d9716f"/>${smile(75)}${both(line('M36 76 18 73m18 8-18 3', 1.8))}`,
  rabbit: `${body}${both('<path d="M52 44C38 34 32 14 39 4c5-6 17 6 19 36z" fill="var(--coat)"/><path d="M51 36c-7-8-11-18-9-24 4 2 9 11 11 24z" fill="#ecaba4"/>')}
    <ellipse cx="60" cy="66" rx="31" ry="28" fill="var(--coat)"/><path d="M60 38c18 0 31 12 31 26-10 9-26 2-29-8z" fill="var(--patch)"/>
    ${both('<circle cx="49" cy="81" r="11" fill="var(--pale)"/>')}${eyes(62, 15)}<path d="m55 72h10l-5 6z" fill="#d9716f"/>
    <path d="M55 86h10v9q-5 3-10 0z" fill="#fff"/>${line('M60 86v9', 1.5)}${smile(77)}`,
  bird: `<path d="M78 96q24 6 34 22l-24-2z" fill="var(--deep-plume)"/><path d="M54 22q-8-12-16-10 10 6 10 14z" fill="var(--deep-plume)"/>
    <path d="M60 18c24 0 38 20 38 48 0 32-16 44-38 44S22 98 22 66c0-28 14-48 38-48z" fill="var(--plume)"/>
    <path d="M60 60c14 0 22 10 22 24S72 110 60 110 38 98 38 84s8-24 22-24z" fill="#fff" opacity=".55"/>
    ${both('<path d="M24 62c-10 12-10 32 2 42 10-8 14-28 8-40z" fill="var(--deep-plume)"/>')}${eyes(46, 15)}
    <path d="M49 54q11-8 22 0l-11 14z" fill="#f2a33a"/><path d="M51 56h18" stroke="${ink}" stroke-width="1.6"/>
    ${both('<ellipse cx="36" cy="57" rx="6" ry="4" fill="#ef8f7f" opacity=".7"/>')}`,
  hamster: `${both('<circle cx="32" cy="38" r="13" fill="var(--deep)"/><circle cx="33" cy="40" r="7" fill="#ecaba4"/>')}
    <path d="M60 30c28 0 46 20 46 48 0 26-14 46-46 46s-46-20-46-46c0-28 18-48 46-48z" fill="var(--coat)"/>
    <path d="M60 30c22 0 38 12 44 32-16 10-36 2-42-12z" fill="var(--patch)"/>
    ${both('<ellipse cx="40" cy="80" rx="19" ry="15" fill="var(--pale)"/>')}<ellipse cx="60" cy="108" rx="26" ry="20" fill="var(--pale)"/>
    ${eyes(62, 17)}<path d="m55 71h10l-5 5z" fill="#d9716f"/>${smile(75)}${both('<ellipse cx="46" cy="100" rx="7" ry="9" fill="#ecaba4"/>')}`,
  turtle: `<path d="M22 96q-10 2-10 14h18zm66 0q14 4 12 14H78z" fill="var(--leaf)"/>
    <path d="M84 74c0-18 6-30 17-30s15 10 13 20-10 14-14 30z" fill="var(--leaf)"/>
    <path d="M10 98c0-36 20-58 44-58s44 22 44 58q-44 12-88 0z" fill="var(--deep-leaf)"/>
    <path d="m44 52 20 0 8 16-12 12-14 0-10-14zm-16 12 6 14-14 14q0-18 8-28zm52 4q8 10 8 24L72 80zM42 88h20l4 12H38z" fill="var(--leaf)" opacity=".75"/>
    <circle cx="103" cy="57" r="4.5" fill="${ink}"/><circle cx="104.5" cy="55.5" r="1.5" fill="#fff"/>${line('M103 69q5 2 9-3')}`,
  fish: `<path d="M88 62c12-18 22-22 28-20-6 10-6 30 0 42-8 0-20-6-28-22z" fill="var(--deep-plume)"/>
    <path d="M44 38Q60 16 78 40zm6 46q10 20 24 16l2-20z" fill="var(--deep-plume)"/>
    <path d="M6 64c10-24 30-34 50-32 22 2 34 16 40 32-8 18-22 28-42 28C32 92 14 82 6 64z" fill="var(--plume)"/>
    <path d="M44 36q14 28 0 54m18-56q16 28 0 56" fill="none" stroke="#fff" stroke-width="6" opacity=".55"/>
    <circle cx="28" cy="57" r="8" fill="#fff"/><circle cx="27" cy="57" r="4.5" fill="${ink}"/>${line('M9 68q8 4 13 0')}
    <g fill="none" stroke="#fff" stroke-width="2.5" opacity=".9"><circle cx="14" cy="34" r="5"/><circle cx="24" cy="18" r="3.5"/></g>`,
  horse: `<path d="M24 124c0-24 12-44 36-44s36 20 36 44z" fill="var(--coat)"/><path d="M84 30c14 20 16 60 14 94H78z" fill="var(--deep)"/>
    ${both('<path d="M38 36 36 10q12 6 18 20z" fill="var(--coat)"/><path d="m42 30-2-12 8 10z" fill="var(--deep)"/>')}
    <path d="M60 22c18 0 26 14 26 30 0 14-6 20-7 36-1 14-9 22-19 22s-18-8-19-22c-1-16-7-22-7-36 0-16 8-30 26-30z" fill="var(--coat)"/>
    <path d="M60 40c6 0 7 8 6 20l-3 22h-6l-3-22c-1-12 0-20 6-20z" fill="var(--pale)"/><path d="M46 14q18-10 28 4-2 18-14 26 2-12-4-18-8 4-10-12z" fill="var(--deep)"/>
    <path d="M60 84c12 0 18 6 18 13 0 9-8 14-18 14s-18-5-18-14c0-7 6-13 18-13z" fill="var(--pale)"/>${eyes(56, 18)}
    ${both(`<ellipse cx="52" cy="95" rx="2.6" ry="3.6" fill="${ink}"/>`)}${line('M52 104q8 4 16 0')}`,
  cow: `${body}${both('<path d="M38 32Q26 30 26 14q10 4 20 14z" fill="#efe3cd"/><path d="M32 46Q14 36 8 48q4 14 24 12z" fill="var(--deep)"/><path d="M28 48q-9-4-13 1 4 6 12 5z" fill="#ecaba4"/>')}
    <path d="M60 26c20 0 30 12 30 30 0 20-8 40-30 40S30 76 30 56c0-18 10-30 30-30z" fill="var(--coat)"/>
    <path d="M64 26c18 1 27 12 26 31-8 9-20 5-23-7-2-9-4-17-3-24z" fill="var(--deep)"/>
    <ellipse cx="60" cy="82" rx="27" ry="17" fill="#f0b9ae"/>${eyes(56, 16)}
    ${both('<ellipse cx="51" cy="79" rx="3" ry="4" fill="#a95f58"/>')}${line('M50 90q10 5 20 0')}`,
  hedgehog: `<path d="m60 12 9 11 12-6 4 13 14 0-1 14 12 6-7 12 8 11-11 8 2 14-42 23-42-23 2-14-11-8 8-11-7-12 12-6-1-14 14 0 4-13 12 6z" fill="var(--deep)"/>
    <path d="M60 46c18-10 36 4 34 26-1 26-14 46-34 46S27 98 26 72c-2-22 16-36 34-26z" fill="var(--pale)"/>
    ${both('<circle cx="31" cy="50" r="9" fill="var(--coat)"/>')}${eyes(70, 14)}<ellipse cx="60" cy="82" rx="7" ry="5.5" fill="${ink}"/>${smile(87)}
    ${both('<ellipse cx="40" cy="84" rx="6" ry="4" fill="#ef8f7f" opacity=".6"/>')}`,
  paw: `<g fill="var(--deep)">${both('<ellipse cx="24" cy="58" rx="11" ry="15" transform="rotate(-20 24 58)"/><ellipse cx="46" cy="34" rx="12" ry="17" transform="rotate(-6 46 34)"/>')}
    <path d="M60 58c16 0 30 20 30 34 0 12-10 14-18 11-8-2-16-2-24 0-8 3-18 1-18-11 0-14 14-34 30-34z"/></g>`,
} as const;
export type Kind = keyof typeof kinds;

/** By the ids of the categories that every store starts with; a store may add others. */
const kindsOfCategory: Readonly<Record<string, readonly [Kind, ...Kind[]]>> = {
  1: ['dog', 'shepherd'],
  2: ['cat', 'tuxedo'],
  3: ['rabbit'],
  4: ['bird'],
  5: ['hamster'],
  6: ['turtle'],
  7: ['fish'],
  8: ['horse'],
  9: ['cow'],
  10: ['hedgehog'],
};

type Drawn = Pick<Pet, 'id' | 'categoryId'>;

export interface Look {
  readonly kind: Kind;
  /** The numbers of the classes in public/style.css. */
  readonly coat: number;
  readonly ground: number;
  readonly isPatched: boolean;
}

export function lookOf({ id, categoryId }: Drawn): Look {
  const breeds = kindsOfCategory[String(categoryId)] ?? ['paw'];
  return {
    kind: breeds[pick(id, 3, breeds.length)] ?? breeds[0],
    coat: pick(id, 0, coats),
    ground: pick(id, 1, backgrounds),
    isPatched: pick(id, 2, 2) === 0,
  };
}

/** In a box of 120 by 120. `worn` is drawn over the body and below the head, for animals that have both. */
export const shapeOf = (kind: Kind, worn = ''): string => kinds[kind].replace(body, (drawn) => drawn + worn);

/** A number below `count` that looks random, and is the same for the same animal. */
function pick(id: Pet['id'], choice: number, count: number): number {
  return (createHash('sha256').update(String(id)).digest()[choice] ?? 0) % count;
}

/** The symbols for these animals, each once per page. */
export function symbolsFor(animals: readonly Drawn[]): Html {
  const symbols = [...new Set(animals.map((animal) => lookOf(animal).kind))].map(
    (kind) => new Html(`<symbol id="${kind}" viewBox="0 0 120 120">${kinds[kind]}</symbol>`),
  );
  return symbols.length === 0 ? new Html('') : html`<svg class="symbols" aria-hidden="true">${symbols}</svg>`;
}

export function drawingOf(animal: Drawn): Html {
  const { kind, coat, ground, isPatched } = lookOf(animal);
  return html`<span class="drawing coat-${coat} ground-${ground}${isPatched && ' patched'}" aria-hidden="true"><svg viewBox="0 0 120 120" preserveAspectRatio="xMidYMax"><use href="#${kind}"/></svg></span>`;
}
