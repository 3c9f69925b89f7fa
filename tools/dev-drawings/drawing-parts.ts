// What the drawings of the development store's animals have in common. Each fills a box of 120 by 120, and the body ends below it.

export type Age = 'young' | 'grown' | 'old';

export const ink = '#2b1d16';
const inside = '#e9a29b';
const frost = '#efe9e2';

/** The colours of a coat: the main one, a darker and a lighter one. */
export interface Tones {
  readonly coat: string;
  readonly deep: string;
  readonly pale: string;
}

/** Mirrored at the middle of the box. */
export const both = (half: string): string => `${half}<g transform="matrix(-1 0 0 1 120 0)">${half}</g>`;

export const line = (d: string, width = 2.5, colour: string = ink): string =>
  `<path d="${d}" fill="none" stroke="${colour}" stroke-width="${width}" stroke-linecap="round" stroke-linejoin="round"/>`;

export const fill = (d: string, colour: string, opacity = 1): string =>
  `<path d="${d}" fill="${colour}"${opacity === 1 ? '' : ` opacity="${opacity}"`}/>`;

export const oval = (x: number, y: number, rx: number, ry: number, colour: string, opacity = 1): string =>
  `<ellipse cx="${x}" cy="${y}" rx="${rx}" ry="${ry}" fill="${colour}"${opacity === 1 ? '' : ` opacity="${opacity}"`}/>`;

/** What is drawn within a shape, such as markings within a head. `name` is used once in a drawing. */
export const within = (name: string, shape: string, drawn: string): string =>
  drawn === '' ? '' : `<clipPath id="${name}"><path d="${shape}"/></clipPath><g clip-path="url(#${name})">${drawn}</g>`;

/** The outline of an oval with `bumps` outward: curls if they are deep, and fluff if they are pointed. */
export function ruffled(x: number, y: number, rx: number, ry: number, bumps: number, depth: number, isPointed = false): string {
  const at = (turn: number, out: number) => {
    const angle = (turn / bumps) * 2 * Math.PI - Math.PI / 2;
    return `${(x + Math.cos(angle) * (rx + out)).toFixed(1)} ${(y + Math.sin(angle) * (ry + out)).toFixed(1)}`;
  };
  const parts = Array.from({ length: bumps }, (_, i) =>
    isPointed ? `Q${at(i + 0.3, 0)} ${at(i + 0.5, depth)}Q${at(i + 0.7, 0)} ${at(i + 1, 0)}` : `Q${at(i + 0.5, depth * 2)} ${at(i + 1, 0)}`,
  );
  return `M${at(0, 0)}${parts.join('')}z`;
}

const eyeOf = { young: { radius: 5.6, down: 2 }, grown: { radius: 4.7, down: 0 }, old: { radius: 4.3, down: 1 } } as const;

interface EyeLook {
  /** The colour around the pupil; without one, the eye is dark. */
  readonly iris?: string | undefined;
  /** Of the left and the right eye, where they differ. */
  readonly otherIris?: string | undefined;
  /** The pupil of a cat. */
  readonly isSlit?: boolean;
  /** Of the lids of an old animal. */
  readonly lid: string;
}

export function eyes(y: number, apart: number, age: Age, { iris, otherIris = iris, isSlit = false, lid }: EyeLook): string {
  const { radius, down } = eyeOf[age];
  const middle = y + down;
  return [60 - apart, 60 + apart]
    .map((x, index) => {
      const colour = index === 0 ? iris : otherIris;
      const ring =
        colour === undefined ? '' : oval(x, middle, radius + 2.4, radius + 2.2, ink) + oval(x, middle, radius + 1.5, radius + 1.3, colour);
      const pupil = oval(x, middle, isSlit ? radius * 0.62 : radius, isSlit ? radius + 0.6 : radius, ink);
      const light = oval(x + radius * 0.3, middle - radius * 0.36, radius * 0.34, radius * 0.34, '#fff');
      const size = radius + (colour === undefined ? 0.8 : 2.8);
      const tired =
        age === 'old'
          ? fill(`M${x - size} ${middle - 2.2}a${size} ${size} 0 0 1 ${size * 2} 0q-${size} -3.4 -${size * 2} 0z`, lid) +
            line(`M${x - size * 0.7} ${middle + size + 1.6}q${size * 0.7} 1.8 ${size * 1.4} 0`, 1.1)
          : '';
      return ring + pupil + light + tired;
    })
    .join('');
}

/** Grey hair around the muzzle and above the eyes. */
export const greyed = (age: Age, muzzleY: number, apart: number, browY: number): string =>
  age === 'old' ? oval(60, muzzleY, 17, 11, frost, 0.85) + both(oval(60 - apart, browY, 6, 3, frost, 0.8)) : '';

export const smile = (y: number): string => line(`M60 ${y}v4m-9 1q4.5 5 9-1q4.5 6 9 1`);

export const innerEar = (d: string): string => fill(d, inside);

/** A young animal has a large head on a small body. */
export const headFor = (age: Age, drawn: string): string =>
  age === 'young' ? `<g transform="translate(60 70) scale(1.07) translate(-60 -66)">${drawn}</g>` : drawn;
export const bodyFor = (age: Age, drawn: string): string =>
  age === 'young' ? `<g transform="translate(60 124) scale(.84) translate(-60 -124)">${drawn}</g>` : drawn;

const shoulders = 'M18 124c0-26 18-40 42-40s42 14 42 40z';
const chest = 'M40 124c0-14 8-22 20-22s20 8 20 22z';

/** Seen from the front, sitting. */
export const body = ({ coat, pale }: Tones, { isFluffy = false } = {}): string =>
  fill(isFluffy ? ruffled(60, 126, 44, 40, 22, 3, true) : shoulders, coat) +
  fill(isFluffy ? ruffled(60, 120, 19, 20, 12, 3, true) : chest, pale);

/** What a drawn animal wears over its body and below its head. */
export type Worn = 'nothing' | 'bandana' | 'collar' | 'bow';

export function worn(what: Worn, colour: string): string {
  if (what === 'bandana')
    return `${fill('M30 93q30 14 60 0l-6 9q-10 12-24 20-14-8-24-20z', colour)}<g fill="#fff" opacity=".75"><circle cx="50" cy="106" r="1.8"/><circle cx="60" cy="112" r="1.8"/><circle cx="70" cy="106" r="1.8"/><circle cx="60" cy="103" r="1.8"/></g>`;
  if (what === 'collar')
    return `${line('M33 94q27 13 54 0', 6, colour)}<circle cx="60" cy="105" r="4.6" fill="#f0c24b"/><circle cx="60" cy="105" r="1.6" fill="#a87a1c"/>`;
  if (what === 'bow')
    return `${fill('M60 102 44 94q-4 8 0 16zM60 102l16-8q4 8 0 16z', colour)}<circle cx="60" cy="102" r="3.800" fill="${colour}" stroke="#fff" stroke-opacity=".5"/>`;
  return '';
}
