// Rabbits, rodents and hedgehogs.
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

const rabbitHead = 'M60 38c18 0 31 13 31 28S78 94 60 94 29 81 29 66s13-28 31-28z';
const upright = both(`${fill('M52 44C38 34 32 14 39 4c5-6 17 6 19 36z', 'EAR')}${innerEar('M51 36c-7-8-11-18-9-24 4 2 9 11 11 24z')}`);
const lop = both(fill('M42 42C26 36 16 48 17 70c1 16 6 24 13 23 8-2 8-16 10-28 1-8 6-14 12-18z', 'EAR'));
const rabbitEars = {
  upright,
  lop,
  /** One of each. */
  mixed: `<g transform="rotate(8 74 40)">${fill('M68 44c14-10 20-30 13-40-5-6-17 6-19 36z', 'EAR')}${innerEar('M69 36c7-8 11-18 9-24-4 2-9 11-11 24z')}</g>${fill('M42 42C26 36 16 48 17 70c1 16 6 24 13 23 8-2 8-16 10-28 1-8 6-14 12-18z', 'EAR')}`,
} as const;
const rabbitMarkings = {
  none: () => '',
  dutch: ({ pale }: Tones) => fill('M54 30h12l2 26q2 8 14 14v30H38V70q12-6 14-14z', pale),
  patch: ({ deep }: Tones) => fill('M60 34c20 0 34 13 34 30-10 10-29 4-31-8z', deep),
  spots: ({ deep }: Tones) =>
    both(oval(44, 60, 9, 10, deep)) + oval(60, 44, 4, 4, deep) + oval(80, 84, 3, 3, deep) + oval(36, 80, 4, 3, deep),
  nose: ({ deep }: Tones) => oval(60, 78, 15, 11, deep, 0.85),
} as const;

export interface RabbitCoat extends Tones {
  readonly ears: keyof typeof rabbitEars;
  readonly marks?: keyof typeof rabbitMarkings;
  readonly ear?: string;
  readonly iris?: string;
  readonly isFluffy?: boolean;
}

export function drawRabbit(coat: RabbitCoat, age: Age, worn: string): string {
  const ears = rabbitEars[coat.ears].replaceAll('EAR', coat.ear ?? coat.coat);
  const isLop = coat.ears === 'lop';
  const fluff = coat.isFluffy
    ? fill(ruffled(60, 67, 33, 29, 22, 4.5, true), coat.coat) + fill(ruffled(60, 40, 14, 7, 9, 4, true), coat.coat)
    : '';
  return `${bodyFor(age, body(coat, { isFluffy: coat.isFluffy ?? false }))}${worn}${headFor(
    age,
    `${isLop ? '' : ears}${fluff}${fill(rabbitHead, coat.coat)}${within('head', rabbitHead, rabbitMarkings[coat.marks ?? 'none'](coat))}
    ${both(oval(50, 81, 11, 9.5, coat.marks === 'nose' ? coat.coat : coat.pale))}${isLop ? ears : ''}${greyed(age, 80, 16, 51)}
    ${eyes(62, 16, age, { iris: coat.iris, lid: coat.deep })}${fill('m55 72h10l-5 6z', '#d9716f')}
    ${fill('M55 86h10v8q-5 3-10 0z', '#fff')}${line('M60 86v8', 1.4)}${smile(77)}${both(line('M44 80 26 77m18 7-17 3', 1.2))}`,
  )}`;
}

const rodentShape = 'M60 30c28 0 46 20 46 48 0 26-14 46-46 46s-46-20-46-46c0-28 18-48 46-48z';
const rodentMarkings = {
  none: () => '',
  patch: ({ deep }: Tones) => fill('M60 26c24 0 42 14 48 38-18 10-40 2-46-14z', deep),
  blaze: ({ pale }: Tones) => fill('M52 26h16l-2 30q10 10 8 20H46q-2-10 8-20z', pale),
  band: ({ pale }: Tones) => fill('M0 84q60 24 120 0v40H0z', pale),
  halves: ({ deep, pale }: Tones) => fill('M0 20h50q-6 30 0 60L0 96z', deep) + fill('M50 20h20q6 30 0 60H50q-6-30 0-60z', pale),
  brow: () => both(oval(42, 51, 7, 4, '#fff6ea')),
} as const;

export interface RodentCoat extends Tones {
  readonly marks?: keyof typeof rodentMarkings;
  /** A guinea pig has ears that hang, and no cheeks to fill. */
  readonly isGuineaPig?: boolean;
  readonly isFluffy?: boolean;
  readonly iris?: string;
}

export function drawRodent(coat: RodentCoat, age: Age): string {
  const { isGuineaPig = false } = coat;
  const ears = isGuineaPig
    ? both(fill('M30 46C14 44 6 54 10 64c4 8 16 4 24-6z', coat.deep) + fill('M27 50c-8 0-13 5-11 10 3 4 9 1 14-4z', '#ecaba4'))
    : both(oval(32, 38, 13, 13, coat.deep) + oval(33, 40, 7.5, 7.5, '#ecaba4'));
  const fluff = coat.isFluffy ? fill(ruffled(60, 78, 46, 46, 30, 4, true), coat.coat) + fill('M52 32q2-14 8-18 6 4 8 18z', coat.pale) : '';
  const cheeks = isGuineaPig ? oval(60, 80, 20, 15, coat.pale) : both(oval(41, 80, 19, 15, coat.pale));
  const drawn = `${ears}${fluff}${fill(rodentShape, coat.coat)}${within('head', rodentShape, rodentMarkings[coat.marks ?? 'none'](coat))}
    ${cheeks}${oval(60, 110, 26, 20, coat.pale)}${greyed(age, 78, 17, 51)}${eyes(62, isGuineaPig ? 21 : 17, age, { iris: coat.iris, lid: coat.deep })}
    ${fill('m55 71h10l-5 5z', '#d9716f')}${smile(75)}${both(oval(46, 101, 6.5, 8.5, '#ecaba4'))}${both(line('M40 78 22 75m18 6-17 3', 1.1))}`;
  return age === 'young' ? `<g transform="translate(60 124) scale(.86) translate(-60 -124)">${drawn}</g>` : drawn;
}

export function drawHedgehog({ coat, deep, pale }: Tones, age: Age): string {
  const face = 'M60 52c20 0 34 14 34 34 0 22-14 38-34 38s-34-16-34-38c0-20 14-34 34-34z';
  return `${fill(ruffled(60, 80, 46, 46, 26, 8, true), deep)}${fill(ruffled(60, 80, 38, 38, 22, 7, true), coat)}
    ${both(oval(32, 62, 8, 8, coat) + oval(33, 63, 4.5, 4.5, '#ecaba4'))}${fill(face, pale)}${greyed(age, 90, 14, 66)}
    ${eyes(76, 14, age, { lid: coat })}${oval(60, 89, 6, 5, ink)}${oval(58, 87.5, 1.8, 1.2, '#fff', 0.6)}${smile(92)}
    ${both(oval(38, 92, 5.5, 3.5, '#ef8f7f', 0.55))}${both(oval(48, 118, 6, 5, '#ecaba4'))}`;
}
