import {
  type Age,
  body,
  bodyFor,
  both,
  eyes,
  fill,
  greyed,
  headFor,
  ink,
  innerEar,
  line,
  oval,
  ruffled,
  smile,
  type Tones,
  within,
} from './drawing-parts.ts';

const heads = {
  round: 'M60 30c20 0 34 14 34 32 0 17-14 32-34 32S26 79 26 62c0-18 14-32 34-32z',
  broad: 'M60 29c21 0 34 13 34 30 0 9-1 14-3 21-3 11-15 16-31 16s-28-5-31-16c-2-7-3-12-3-21 0-17 13-30 34-30z',
  wedge: 'M60 30c21 0 36 13 36 32 0 12-6 18-14 22-4 9-12 12-22 12s-18-3-22-12c-8-4-14-10-14-22 0-19 15-32 36-32z',
  narrow: 'M60 29c17 0 27 11 27 27 0 11-5 17-8 26-3 10-9 15-19 15s-16-5-19-15c-3-9-8-15-8-26 0-16 10-27 27-27z',
  flat: 'M60 33c22 0 36 13 36 31 0 18-15 30-36 30S24 82 24 64c0-18 14-31 36-31z',
} as const;

/** Behind the head, or in front of it. */
const ears = {
  floppy: { isBehind: false, draw: (deep: string) => fill('M35 36c-14-4-24 10-23 31 0 12 9 17 14 10 5-8 4-20 14-33z', deep) },
  long: { isBehind: false, draw: (deep: string) => fill('M37 38c-15-3-26 13-27 40-1 16 5 25 13 24 9-1 12-14 13-31 1-13 5-22 9-27z', deep) },
  shaggy: { isBehind: false, draw: (deep: string) => fill(ruffled(23, 68, 10, 25, 11, 2.6), deep) },
  curly: { isBehind: false, draw: (deep: string) => fill(ruffled(22, 64, 11, 20, 9, 3), deep) },
  pricked: { isBehind: true, draw: (deep: string) => fill('M29 56 21 15q0-6 6-3l27 24z', deep) + innerEar('m32 44-4-20 16 14z') },
  bat: {
    isBehind: true,
    draw: (deep: string) =>
      fill('M28 58C15 40 12 18 18 9c4-5 18 6 27 18 6 8 8 12 9 17z', deep) + innerEar('M28 46C20 34 18 22 21 17c4 1 12 9 17 18z'),
  },
  folded: {
    isBehind: false,
    draw: (deep: string) =>
      fill('M29 50 21 30q0-7 7-8 15 1 24 12z', deep) +
      fill('M21 29q3-8 9-7 8 2 14 6-3 15-16 19-6-7-7-18z', ink, 0.16) +
      fill('M20 30q2-8 10-8 8 2 12 7-4 13-15 16-6-6-7-15z', deep),
  },
  swept: {
    isBehind: true,
    draw: (deep: string) => fill('M42 36C30 24 16 22 12 30c-2 8 10 20 26 24z', deep) + innerEar('M34 38c-6-6-12-8-16-5 1 5 8 10 16 13z'),
  },
} as const;

/** Drawn on the head and cut off at its edge. */
const markings = {
  none: () => '',
  patch: ({ deep }: Tones) => fill('M62 26c18-1 34 11 36 32-9 14-28 12-33-1-3-9-4-22-3-31z', deep),
  blaze: ({ pale }: Tones) => fill('M54 24h12l-2 30q-1 8 6 12c8 4 10 12 8 18-3 10-9 14-18 14s-15-4-18-14c-2-6 0-14 8-18q7-4 6-12z', pale),
  rust: ({ pale }: Tones) =>
    fill('M55 24h10l-1 32q-1 8 6 12c8 4 10 12 8 18-3 10-9 14-18 14s-15-4-18-14c-2-6 0-14 8-18q7-4 6-12z', pale) +
    both(oval(45, 46, 5, 4, '#c7783a') + oval(36, 78, 9, 9, '#c7783a')),
  mask: () => fill('M36 62q10-8 24-6 14-2 24 6 4 18-6 28-8 10-18 10t-18-10q-10-10-6-28z', ink, 0.78),
  cap: ({ pale }: Tones) => fill('M20 62q12-16 26-14 8 2 10 14l4-16 4 16q2-12 10-14 14-2 26 14v40H20z', pale),
  tan: ({ pale }: Tones) => both(oval(45, 46, 5, 3.6, pale)) + both(oval(41, 80, 11, 9, pale)),
  saddle: ({ deep }: Tones) => fill('M20 20h80v34q-14 2-22-8-8-6-18-6t-18 6q-8 10-22 8z', deep),
  spots: () =>
    [
      [40, 40, 4],
      [76, 36, 5.5],
      [84, 58, 3.5],
      [34, 58, 3.5],
      [60, 34, 3],
      [80, 78, 3.5],
      [38, 78, 3],
      [66, 46, 2.5],
    ]
      .map(([x = 0, y = 0, r = 0]) => oval(x, y, r, r * 0.9, ink, 0.85))
      .join(''),
  merle: ({ deep }: Tones) =>
    fill(
      'M26 40q14-10 20 0t-8 16-16 2zM70 30q14-2 20 12t-8 12-12-10 0-14zM28 76q8-6 14 2t-6 14-14-6zM84 70q8 0 8 12t-12 8q-6-16 4-20z',
      deep,
      0.9,
    ),
  apart: ({ pale, deep }: Tones) =>
    fill('M22 20h34l-1 40-8 8-25-4z', deep) + fill('M98 20H64l1 40 8 8 25-4z', deep) + fill('M56 20h8l1 42-5 6-5-6z', pale),
} as const;

export interface DogShape {
  readonly head: keyof typeof heads;
  readonly ears: keyof typeof ears;
  readonly fur?: 'smooth' | 'fluffy' | 'curly' | 'wiry';
  /** A flat face has a small, wide muzzle. */
  readonly isFlat?: boolean;
}

export interface DogCoat extends Tones {
  readonly marks?: keyof typeof markings;
  readonly ear?: string;
  readonly muzzle?: string;
  readonly iris?: string;
  readonly otherIris?: string;
}

export function drawDog({ head, ears: earName, fur = 'smooth', isFlat = false }: DogShape, coat: DogCoat, age: Age, worn: string): string {
  const shape = heads[head];
  const { draw, isBehind } = ears[earName];
  const ear = both(draw(coat.ear ?? coat.deep));
  const muzzle = coat.muzzle ?? coat.pale;
  const ruff = {
    smooth: '',
    fluffy: fill(ruffled(60, 66, 36, 33, 26, 4.5, true), coat.coat),
    curly: fill(ruffled(60, 62, 31, 31, 15, 3), coat.coat),
    wiry: fill(ruffled(60, 66, 32, 31, 30, 4, true), coat.coat),
  }[fur];
  const topknot =
    fur === 'curly'
      ? fill(ruffled(60, 36, 21, 14, 10, 3.5), coat.coat) + line('M50 34q4-5 9-1m3 1q4-5 9-1m-16-8q4-4 8 0', 1.4, coat.deep)
      : '';
  const beard =
    fur === 'wiry' ? fill(ruffled(60, 82, 19, 13, 13, 3.5, true), muzzle) + both(fill('M38 54q6-10 18-3-8-1-18 3z', muzzle)) : '';
  const snout = isFlat ? oval(60, 79, 22, 14, muzzle) : oval(60, 78, age === 'young' ? 17 : 19, age === 'young' ? 13 : 15, muzzle);
  const eyeY = isFlat ? 62 : 58;
  const nose = isFlat ? fill('M52 70q8-4 16 0-1 6-8 6t-8-6z', ink) : fill('M52 70q8-5 16 0q-2 8-8 8t-8-8z', ink);
  const tongue = age === 'old' ? '' : fill('M55 86q5 14 10 0z', '#e5787a');
  const face = `${fill(shape, coat.coat)}${within('head', shape, markings[coat.marks ?? 'none'](coat))}${topknot}${snout}${beard}${greyed(age, 80, 15, 47)}
    ${eyes(eyeY, isFlat ? 18 : 15, age, { iris: coat.iris, otherIris: coat.otherIris, lid: coat.deep })}${tongue}${nose}${oval(57.5, 71.4, 2.2, 1.1, '#fff', 0.45)}${smile(77)}`;
  return `${bodyFor(age, body(coat, { isFluffy: fur !== 'smooth' }))}${worn}${headFor(age, `${isBehind ? ear : ''}${ruff}${face}${isBehind ? '' : ear}`)}`;
}
