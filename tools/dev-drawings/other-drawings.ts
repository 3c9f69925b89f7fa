// Birds, tortoises, fish, horses and cows.
import { type Age, both, eyes, fill, greyed, ink, line, oval, type Tones, within } from './drawing-parts.ts';

const birdShape = 'M60 18c24 0 38 20 38 48 0 32-16 44-38 44S22 98 22 66c0-28 14-48 38-48z';

export interface BirdCoat extends Tones {
  readonly kind: 'budgerigar' | 'canary' | 'cockatiel' | 'lovebird' | 'finch';
  /** Of the face, where it has a colour of its own. */
  readonly face?: string;
}

const beaks = {
  hooked: (colour: string) => `${oval(60, 53, 7, 4.5, '#7f9fd6')}${fill('M52 55q8-4 16 0-1 12-8 15-7-3-8-15z', colour)}`,
  cone: (colour: string) => fill('M50 54q10-7 20 0L60 68z', colour) + line('M51 56q9 4 18 0', 1.4),
} as const;

export function drawBird({ kind, coat, deep, pale, face }: BirdCoat, age: Age): string {
  const isCockatiel = kind === 'cockatiel';
  const crest = isCockatiel
    ? fill('M56 24Q46 6 34 2q6 8 6 14-8-4-12-2 14 4 24 16zM62 22q-2-16-10-22 12 4 18 22z', face ?? coat)
    : kind === 'canary'
      ? fill('M56 20q-8-10-16-8 9 4 10 12zM64 19q0-9-6-13 9 1 13 13z', deep)
      : '';
  const bars = kind === 'budgerigar' ? both(line('M27 44q7-4 10-12m-13 20q9-4 15-14m-16 22q8-2 14-10', 2, deep)) : '';
  const mask = face && !isCockatiel ? fill('M20 18h80v46q-18 16-40 16T20 64z', face) : '';
  const cockatielFace = isCockatiel && face ? fill('M28 18h64v44q-16 12-32 12T28 62z', face) : '';
  const cheeks = isCockatiel
    ? both(oval(36, 60, 8, 7, '#e9783f'))
    : kind === 'finch'
      ? both(oval(37, 60, 9, 8, '#d9763a'))
      : both(oval(35, 58, 6, 4, '#ef8f7f', 0.7));
  const throat =
    kind === 'budgerigar'
      ? both(oval(49, 76, 2.4, 2.8, '#2d4f8f') + oval(40, 74, 2, 2.4, '#2d4f8f'))
      : kind === 'finch'
        ? line('M46 78q14 6 28 0m-26 5q12 5 24 0', 2, ink)
        : '';
  const beak =
    kind === 'budgerigar' || kind === 'lovebird' || isCockatiel
      ? beaks.hooked(kind === 'lovebird' ? '#f3dcc0' : '#e0b25a')
      : beaks.cone(kind === 'finch' ? '#d8452f' : '#f2a33a');
  return `${fill('M78 96q24 6 34 22l-24-2z', deep)}${crest}${fill(birdShape, coat)}${within('head', birdShape, mask + cockatielFace)}
    ${fill('M60 62c14 0 22 10 22 23S72 110 60 110 38 98 38 85s8-23 22-23z', pale, 0.75)}${bars}
    ${both(fill('M24 62c-10 12-10 32 2 42 10-8 14-28 8-40z', deep) + line('M24 78q4 3 8 1m-8 8q3 3 7 2', 1.5, pale))}
    ${eyes(46, 15, age, { lid: coat })}${beak}${cheeks}${throat}${both(line('M52 110v6m-3 0h6', 2.5, '#c9793a'))}`;
}

export interface ShellCoat extends Tones {
  readonly shell: string;
  readonly pattern: 'plates' | 'rings' | 'stars' | 'stripe';
}

export function drawTortoise({ coat, deep, pale, shell, pattern }: ShellCoat, age: Age): string {
  const dome = 'M10 98c0-36 20-58 44-58s44 22 44 58q-44 12-88 0z';
  const plates = 'm44 52 20 0 8 16-12 12-14 0-10-14zm-16 12 6 14-14 14q0-18 8-28zm52 4q8 10 8 24L72 80zM42 88h20l4 12H38z';
  const drawn = {
    plates: fill(plates, pale, 0.8),
    rings: fill(plates, pale, 0.85) + fill('m48 58h12l4 8-7 8h-8l-6-8z', shell) + oval(52, 94, 7, 3, shell),
    stars: `${[
      [54, 62],
      [28, 84],
      [80, 84],
      [53, 92],
    ]
      .map(([x = 0, y = 0]) => line(`M${x} ${y - 9}v18M${x - 9} ${y}h18M${x - 6} ${y - 6}l12 12m0-12-12 12`, 2.2, pale))
      .join('')}`,
    stripe: line('M16 88q38 10 76 0M24 70q30 8 60 0M38 52q16 4 32 0', 4, pale),
  }[pattern];
  return `${fill('M22 96q-10 2-10 14h18zm66 0q14 4 12 14H78z', coat)}${fill('M84 74c0-18 6-30 17-30s15 10 13 20-10 14-14 30z', coat)}
    ${pattern === 'stripe' ? line('M98 61q-6 6-8 16', 3, '#d8503f') : ''}${fill(dome, shell)}${within('head', dome, drawn)}${line('M10 98q44 12 88 0', 3, deep)}
    ${oval(103, 57, age === 'young' ? 5.4 : 4.5, age === 'young' ? 5.4 : 4.5, ink)}${oval(104.5, 55.5, 1.5, 1.5, '#fff')}${line('M103 69q5 2 9-3')}
    ${age === 'old' ? line('M96 50q6-5 12-1m-14 28q5 2 8 6', 1.4, deep) : ''}`;
}

export interface FishCoat extends Tones {
  readonly pattern: 'plain' | 'stripes' | 'halves' | 'spots';
  readonly fins?: 'short' | 'veil';
}

export function drawFish({ coat, deep, pale, pattern, fins = 'short' }: FishCoat, age: Age): string {
  const shape = 'M6 64c10-24 30-34 50-32 22 2 34 16 40 32-8 18-22 28-42 28C32 92 14 82 6 64z';
  const drawn = {
    plain: fill('M6 70q40 30 88 2-12 20-40 22Q16 88 6 70z', pale, 0.5),
    stripes: line('M44 34q14 28 0 58m18-58q16 28 0 56M28 44q8 20 0 38', 6, pale),
    halves: fill('M50 26h60v70H50q-12-34 0-70z', pale),
    spots: [
      [50, 46, 6],
      [68, 60, 7],
      [48, 74, 5],
      [80, 76, 4],
      [34, 80, 3],
    ]
      .map(([x = 0, y = 0, r = 0]) => oval(x, y, r, r, pale))
      .join(''),
  }[pattern];
  const finned =
    fins === 'veil'
      ? fill('M86 62c6-30 22-44 34-40-8 16-8 30-4 40 4 14 2 32 2 46-16-4-28-24-32-46z', deep, 0.9) +
        fill('M40 38Q56 4 88 18q-8 12-8 24zm8 48q4 28 34 30-6-16-2-32z', deep, 0.9)
      : fill('M88 62c12-18 22-22 28-20-6 10-6 30 0 42-8 0-20-6-28-22z', deep) + fill('M44 38Q60 16 78 40zm6 46q10 20 24 16l2-20z', deep);
  return `${finned}${fill(shape, coat)}${within('head', shape, drawn)}${fill('M52 62q14-6 18 4-8 10-18 4z', deep)}
    ${oval(28, 57, age === 'young' ? 9 : 8, age === 'young' ? 9 : 8, '#fff')}${oval(27, 57, 4.8, 4.8, ink)}${oval(28.5, 55, 1.6, 1.6, '#fff')}${line('M9 68q8 4 13 0')}
    <g fill="none" stroke="#fff" stroke-width="2.5" opacity=".9"><circle cx="14" cy="34" r="5"/><circle cx="24" cy="18" r="3.5"/></g>`;
}

export interface HorseCoat extends Tones {
  readonly mane: string;
  readonly face: 'blaze' | 'star' | 'snip' | 'none';
  readonly isPatched?: boolean;
  readonly iris?: string;
}

export function drawHorse({ coat, deep, pale, mane, face, isPatched = false, iris }: HorseCoat, age: Age): string {
  const head = 'M60 22c18 0 26 14 26 30 0 14-6 20-7 36-1 14-9 22-19 22s-18-8-19-22c-1-16-7-22-7-36 0-16 8-30 26-30z';
  const marks = {
    blaze: fill('M60 34c6 0 7 10 6 24l-3 26h-6l-3-26c-1-14 0-24 6-24z', pale),
    star: fill('m60 42 4 6 6 3-6 4-4 8-4-8-6-4 6-3z', pale),
    snip: oval(60, 86, 5, 7, pale),
    none: '',
  }[face];
  return `${fill('M24 124c0-24 12-44 36-44s36 20 36 44z', coat)}${isPatched ? fill('M70 84q22 6 26 40H76q-10-20-6-40z', pale) : ''}${fill('M84 30c14 20 16 60 14 94H78z', mane)}
    ${both(fill('M38 36 36 10q12 6 18 20z', coat) + fill('m42 30-2-12 8 10z', deep))}${fill(head, coat)}${within('head', head, (isPatched ? fill('M60 20h40v44q-26 4-40-14z', pale) : '') + marks)}
    ${fill('M46 14q18-10 28 4-2 18-14 26 2-12-4-18-8 4-10-12z', mane)}${oval(60, 94, 16, 13, deep, 0.85)}${both(oval(53, 92, 2.6, 3.6, ink))}${line('M53 101q7 4 14 0')}
    ${greyed(age, 94, 19, 46)}${eyes(54, 19, age, { iris, lid: deep })}`;
}

export interface CowCoat extends Tones {
  readonly pattern: 'plain' | 'patches' | 'belt';
  readonly hasHorns: boolean;
  readonly isShaggy?: boolean;
  readonly iris?: string;
}

export function drawCow({ coat, deep, pale, pattern, hasHorns, isShaggy = false, iris }: CowCoat, age: Age): string {
  const head = 'M60 28c20 0 30 13 30 32 0 20-10 38-30 38S30 80 30 60c0-19 10-32 30-32z';
  const marks = {
    plain: '',
    patches: fill('M24 24h28q6 18 2 34-12 8-26 2zM96 40v34q-14 4-18-10t18-24z', deep),
    belt: fill('M54 20h12v50H54z', pale),
  }[pattern];
  const horns = hasHorns ? both(fill('M40 36C26 34 20 22 25 10c4 10 12 14 24 18z', '#eadbbd')) : '';
  return `${fill('M20 124c0-24 16-40 40-40s40 16 40 40z', coat)}${pattern === 'belt' ? fill('M28 112h64v12H24z', pale) : pattern === 'patches' ? fill('M74 90q20 8 24 34H80q-10-18-6-34z', deep) : ''}
    ${horns}${both(fill('M32 46Q14 38 7 50q4 15 26 12z', deep) + fill('M28 50q-10-4-14 1 3 7 14 6z', '#e9a29b'))}${fill(head, coat)}${within('head', head, marks)}
    ${isShaggy ? fill('M36 30q4-12 24-12t24 12q-2 20-8 26-4-8-6-14-2 10-8 16-4-8-6-16-4 10-8 14-10-10-12-26z', deep) : fill('M50 28q10-10 20 0-2 12-10 14-8-2-10-14z', deep)}
    ${oval(60, 88, 23, 15, pale)}${both(oval(52, 86, 3, 4, '#c77f74'))}${line('M51 96q9 5 18 0')}${greyed(age, 84, 19, 50)}${eyes(isShaggy ? 66 : 60, 18, age, { iris, lid: deep })}`;
}
