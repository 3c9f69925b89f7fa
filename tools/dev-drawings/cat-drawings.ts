import {
  type Age,
  body,
  bodyFor,
  both,
  eyes,
  fill,
  greyed,
  headFor,
  innerEar,
  line,
  oval,
  smile,
  type Tones,
  within,
} from './drawing-parts.ts';

const heads = {
  round: 'M60 33c21 0 36 13 36 30S81 93 60 93 24 80 24 63s15-30 36-30z',
  flat: 'M60 34c23 0 38 13 38 31S83 95 60 95 22 83 22 65s15-31 38-31z',
  wedge: 'M60 33c19 0 33 11 33 26 0 13-9 18-16 25-5 6-10 10-17 10s-12-4-17-10c-7-7-16-12-16-25 0-15 14-26 33-26z',
} as const;

const ears = {
  usual: { outer: 'M27 54 26 18q0-4 4-1l25 20z', inner: 'm32 42-1-16 14 11z' },
  large: { outer: 'M27 58C18 38 15 20 18 10q1-4 5-2 18 10 34 30z', inner: 'M29 48c-6-12-8-22-8-29 9 6 16 12 22 19z' },
  tufted: { outer: 'M27 54 23 12q-1-6 4-1l29 26z', inner: 'm32 42-3-18 16 14z' },
  folded: { outer: 'M26 52Q20 34 29 31q12-1 22 7-1 12-25 14z', inner: '' },
} as const;

const ground = (colour: string) => fill('M10 10h100v100H10z', colour);

/** Drawn on the head and cut off at its edge. */
const markings = {
  none: () => '',
  tabby: ({ deep }: Tones) =>
    fill('M57 30h6l-3 17zM45 31l6-1 1 14zM75 31l-6-1-1 14z', deep) + both(fill('M22 62l14 2-14 4zM24 74l12-1-10 5z', deep)),
  patch: ({ deep }: Tones) => fill('M60 28c24 0 40 14 40 33-16 10-34 1-37-12z', deep),
  calico: ({ deep }: Tones) =>
    fill('M60 26c26 0 42 14 42 34-16 9-36 0-38-12z', deep) + fill('M18 70q2-34 30-42 6 14-4 24-12 12-26 18z', '#e08a3e'),
  tortoiseshell: () =>
    fill(
      'M24 40q12-12 22-6 4 10-6 14t-16-8zM66 28q16 2 20 12-6 10-14 4t-6-16zM82 64q12-4 12 8t-14 10q-8-12 2-18zM30 74q10-6 14 4t-8 12-12-8zM54 44q8-2 10 6t-8 8-2-14z',
      '#d98a45',
    ),
  tuxedo: ({ pale }: Tones) =>
    fill('M60 42c4 10 6 18 14 22 10 5 12 12 8 19-4 7-12 12-22 12s-18-5-22-12c-4-7-2-14 8-19 8-4 10-12 14-22z', pale),
  point: ({ deep }: Tones) =>
    `${fill('M60 48c10 0 16 8 18 20 2 14-6 26-18 26s-20-12-18-26c2-12 8-20 18-20z', deep, 0.9)}${both(oval(43, 63, 12, 10, deep, 0.5))}`,
  spots: ({ deep }: Tones) =>
    fill('M57 32h6l-3 13zM46 33l5-1 1 11zM74 33l-5-1-1 11z', deep) +
    both(
      [
        [30, 56],
        [33, 68],
        [40, 44],
        [38, 80],
      ]
        .map(([x = 0, y = 0]) => oval(x, y, 3.4, 2.4, deep))
        .join(''),
    ),
  van: ({ pale, deep }: Tones) => ground(pale) + fill('M20 20h34q4 18-8 26-14 6-26 4zM100 20H66q-4 18 8 26 14 6 26 4z', deep),
} as const;

export interface CatShape {
  readonly head: keyof typeof heads;
  readonly ears: keyof typeof ears;
  readonly fur?: 'short' | 'long' | 'none';
}

export interface CatCoat extends Tones {
  readonly marks?: keyof typeof markings;
  readonly ear?: string;
  readonly muzzle?: string;
  readonly iris: string;
  readonly otherIris?: string;
}

export function drawCat({ head, ears: earName, fur = 'short' }: CatShape, coat: CatCoat, age: Age, worn: string): string {
  const { outer, inner } = ears[earName];
  const earColour = coat.ear ?? (earName === 'folded' ? coat.deep : coat.coat);
  const ear = both(
    `${fill(outer, earColour)}${inner && innerEar(inner)}${earName === 'tufted' ? line('M27 14 24 4m5 12 0-9', 2, coat.deep) : ''}`,
  );
  const shape = heads[head];
  const ruff = fur === 'long' ? both(fill('M34 56 12 66l9 3-11 9 11 1-8 11 13-2-3 10q14-2 24-8z', coat.coat)) : '';
  const folds =
    fur === 'none' ? line('M52 40q8 4 16 0m-19 7q11 4 22 0', 1.6, coat.deep) + both(line('M32 76q4 3 3 8', 1.4, coat.deep)) : '';
  const muzzle = coat.muzzle ?? coat.pale;
  const whiskers = fur === 'none' ? '' : both(line('M36 73 16 69m20 9-20 2', 1.6, age === 'old' ? '#fff' : '#4a3a30'));
  const eyeY = head === 'flat' ? 63 : 60;
  const noseY = head === 'flat' ? 68 : 70;
  return `${bodyFor(age, body(coat, { isFluffy: fur === 'long' }))}${worn}${headFor(
    age,
    `${earName === 'folded' ? '' : ear}${ruff}${fill(shape, coat.coat)}${within('head', shape, markings[coat.marks ?? 'none'](coat))}${folds}
    ${oval(60, 77, head === 'flat' ? 17 : 14, 10, muzzle)}${earName === 'folded' ? ear : ''}${greyed(age, 78, 16, 48)}
    ${eyes(eyeY, 17, age, { iris: coat.iris, otherIris: coat.otherIris, isSlit: true, lid: coat.deep })}
    ${fill(`m55 ${noseY}h10l-5 6z`, '#d9716f')}${smile(75)}${whiskers}`,
  )}`;
}
