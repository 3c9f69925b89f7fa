// Pictures of the seeded animals, as a shelter would photograph them: their drawings in a scene, rendered as JPEG.
import sharp from 'sharp';
import { drawingOf, type Look } from './dev-looks.ts';

const size = { width: 1_600, height: 1_200 };
const quality = 90;

/** In a scene, the animal is drawn over `behind` and below `before`. Both fill a box of 1600 by 1200. */
interface Scene {
  readonly where: string;
  behind(tones: Tones): string;
  before(tones: Tones): string;
}

interface Tones {
  readonly light: string;
  readonly mid: string;
  readonly deep: string;
}

/** How the animal is placed: its width in pixels, where its middle and its lower edge are, and by how much it leans. */
interface Pose {
  readonly width: number;
  readonly x: number;
  readonly bottom: number;
  readonly leanDegrees: number;
  readonly isMirrored: boolean;
}

export interface Shot {
  readonly scene: SceneName;
  readonly pose: PoseName;
}

const tones: readonly Tones[] = [
  { light: '#fdeadb', mid: '#f6c9a8', deep: '#d98f68' },
  { light: '#e6f2e9', mid: '#b9d8c4', deep: '#7fae93' },
  { light: '#e6eff8', mid: '#b8d0e8', deep: '#7d9fc4' },
  { light: '#fdf2d0', mid: '#f2d58a', deep: '#d3a94a' },
  { light: '#f4eaf6', mid: '#d8c0e0', deep: '#a98ab8' },
];

const scenes = {
  studio: {
    where: 'in front of a plain wall',
    behind: ({ light, mid, deep }) => `${gradient('wall', light, mid)}<rect width="1600" height="1200" fill="url(#wall)"/>
      <circle cx="800" cy="640" r="500" fill="${light}" opacity=".75"/><rect y="1040" width="1600" height="160" fill="${deep}" opacity=".35"/>`,
    before: () => '',
  },
  meadow: {
    where: 'in a meadow',
    behind: ({ light }) => `${gradient('sky', '#cfe6f5', '#fdf3df')}<rect width="1600" height="1200" fill="url(#sky)"/>
      <circle cx="1280" cy="250" r="110" fill="#ffe3a0"/><g fill="#fff" opacity=".85">${cloud(240, 240, 1.2)}${cloud(1_020, 160, 0.8)}</g>
      <path d="M0 760q420-220 860-40t740-80v560H0z" fill="#b7d39a"/><path d="M0 900q520-170 1000-30t600-60v390H0z" fill="#9cc281"/>
      <circle cx="180" cy="690" r="90" fill="#7fab6b"/><circle cx="290" cy="710" r="66" fill="#8cb877"/><rect width="1600" height="1200" fill="${light}" opacity=".12"/>`,
    before: () => `<path d="M0 1090q400-90 800-30t800-50v200H0z" fill="#7fae62"/>${blades()}${flowers()}`,
  },
  sofa: {
    where: 'on a sofa',
    behind: ({ light, mid, deep }) => `${gradient('wall', light, mid)}<rect width="1600" height="1200" fill="url(#wall)"/>
      <g transform="translate(130 120)"><rect width="360" height="440" rx="14" fill="#fff" opacity=".9"/><rect x="22" y="22" width="316" height="396" fill="#cfe6f5"/>
      <path d="M22 330q90-80 170-30t146-40v158H22z" fill="#a9cc95"/><path d="M180 22v396M22 220h316" stroke="#fff" stroke-width="16"/></g>
      <g transform="translate(1290 300)"><path d="M-100 0H100L62-130H-62z" fill="#fff4d6"/><rect x="-9" width="18" height="560" fill="${deep}"/></g>
      <rect x="120" y="640" width="1360" height="520" rx="110" fill="${deep}"/><rect x="200" y="700" width="590" height="420" rx="60" fill="${mid}" opacity=".6"/>
      <rect x="810" y="700" width="590" height="420" rx="60" fill="${mid}" opacity=".6"/>`,
    before: ({ mid, deep }) => `<rect x="60" y="1050" width="1480" height="220" rx="80" fill="${deep}"/>
      <rect x="60" y="1050" width="1480" height="60" rx="30" fill="${mid}" opacity=".35"/>`,
  },
  basket: {
    where: 'in a basket',
    behind: ({ light, mid, deep }) => `${gradient('wall', mid, light)}<rect width="1600" height="1200" fill="url(#wall)"/>
      <g fill="${deep}" opacity=".16">${dots()}</g><rect y="980" width="1600" height="220" fill="#d9b48a"/><path d="M0 1040h1600M0 1120h1600" stroke="#c39a6d" stroke-width="6"/>
      <ellipse cx="800" cy="1000" rx="560" ry="110" fill="#9a6b3f"/>`,
    before: () => `<path d="M250 990q550 150 1100 0l-60 230H310z" fill="#c08a54"/>
      <path d="M262 1030q538 150 1076 0M276 1088q524 140 1048 0M292 1146q508 130 1016 0" fill="none" stroke="#a06f3e" stroke-width="16" stroke-dasharray="46 26"/>
      <path d="M246 990q554 156 1108 0" fill="none" stroke="#d6a26b" stroke-width="36" stroke-linecap="round"/>`,
  },
  barn: {
    where: 'by the barn',
    behind: () => `${gradient('sky', '#cfe0ee', '#fbead2')}<rect width="1600" height="1200" fill="url(#sky)"/>
      <path d="M0 800q500-150 1600-20v420H0z" fill="#a9c486"/><path d="M980 820V420l260-200 260 200v400z" fill="#b3543a"/><path d="M1130 820V560h220v260m-220-260 220 260m0-260-220 260" fill="#8f3f2b" stroke="#f3e3cf" stroke-width="16"/>
      <path d="M960 440 1240 200l280 240" fill="none" stroke="#f3e3cf" stroke-width="26"/><g stroke="#c9ab84" stroke-width="24">${fence()}</g>`,
    before: () => `<path d="M0 1110q400-80 800-30t800-40v200H0z" fill="#86a963"/>${blades()}`,
  },
  tank: {
    where: 'among water plants',
    behind: () => `${gradient('sky', '#bfe6ea', '#5fa9b8')}<rect width="1600" height="1200" fill="url(#sky)"/>
      <path d="M200 0 460 1200M700 0l180 1200M1180 0l160 1200" stroke="#fff" stroke-width="120" opacity=".1"/>
      <g fill="#3f8a74" opacity=".8"><path d="M180 1200q-90-220 10-420-30 240 70 420z"/><path d="M300 1200q60-260-20-560 120 260 80 560z"/><path d="M1380 1200q-80-300 20-620 20 320 80 620z"/><path d="M1240 1200q-60-180 20-360 10 200 60 360z"/></g>
      <path d="M0 1100q400-70 800-10t800-30v140H0z" fill="#e3cf9f"/>`,
    before: () =>
      `<g fill="none" stroke="#fff" stroke-width="9" opacity=".7"><circle cx="360" cy="420" r="34"/><circle cx="430" cy="300" r="22"/><circle cx="1220" cy="240" r="28"/></g>`,
  },
} satisfies Record<string, Scene>;
type SceneName = keyof typeof scenes;

const poses = {
  sitting: { width: 1_000, x: 800, bottom: 1_215, leanDegrees: 0, isMirrored: false },
  curious: { width: 980, x: 840, bottom: 1_230, leanDegrees: -7, isMirrored: true },
  closeUp: { width: 1_560, x: 800, bottom: 1_560, leanDegrees: 3, isMirrored: false },
  low: { width: 900, x: 800, bottom: 1_170, leanDegrees: 0, isMirrored: false },
  floating: { width: 860, x: 800, bottom: 1_060, leanDegrees: -4, isMirrored: false },
} satisfies Record<string, Pose>;
type PoseName = keyof typeof poses;

type ShotName = `${SceneName} ${PoseName}`;

const usualShots: ReadonlyArray<readonly ShotName[]> = [
  ['meadow sitting', 'studio closeUp', 'sofa curious'],
  ['sofa sitting', 'meadow curious', 'studio closeUp'],
  ['studio sitting', 'basket curious', 'meadow sitting'],
  ['basket sitting', 'studio closeUp', 'sofa curious'],
];
/** Reptiles, fish, horses and farm animals are photographed where they live. */
const shotsOfCategory: Readonly<Record<number, readonly ShotName[]>> = {
  6: ['meadow low', 'studio low'],
  7: ['tank floating', 'tank closeUp'],
  8: ['barn sitting', 'meadow closeUp'],
  9: ['barn sitting', 'meadow curious'],
};

/** The first pictures of an animal, `count` at most; others of its kind may have other ones. */
export function shotsOf({ categoryId, scene: number }: Look, count: number): readonly Shot[] {
  const names = shotsOfCategory[categoryId] ?? usualShots[number % usualShots.length] ?? [];
  return names.slice(0, count).map((name) => {
    const [scene, pose] = name.split(' ') as [SceneName, PoseName];
    return { scene, pose };
  });
}

export const whereOf = ({ scene }: Shot): string => scenes[scene].where;

export const renderPicture = (look: Look, shot: Shot): Promise<Buffer> =>
  sharp(Buffer.from(drawPicture(look, shot)))
    .jpeg({ quality })
    .toBuffer();

function drawPicture(look: Look, { scene, pose }: Shot): string {
  const { behind, before } = scenes[scene];
  const tone = tones[(look.scene + look.categoryId) % tones.length] ?? { light: '', mid: '', deep: '' };
  const animal = drawingOf(look);
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${size.width}" height="${size.height}" viewBox="0 0 1600 1200">
    ${behind(tone)}<g transform="${placedAs(poses[pose])}">${animal}</g>${before(tone)}
    <radialGradient id="edge" r=".75"><stop offset=".6" stop-opacity="0"/><stop offset="1" stop-opacity=".12"/></radialGradient>
    <rect width="1600" height="1200" fill="url(#edge)"/></svg>`;
}

function placedAs({ width, x, bottom, leanDegrees, isMirrored }: Pose): string {
  const scale = width / 120;
  return `translate(${x} ${bottom}) rotate(${leanDegrees}) scale(${isMirrored ? -scale : scale} ${scale}) translate(-60 -120)`;
}

const gradient = (id: string, from: string, to: string): string =>
  `<linearGradient id="${id}" x2="0" y2="1"><stop stop-color="${from}"/><stop offset="1" stop-color="${to}"/></linearGradient>`;

const cloud = (x: number, y: number, scale: number): string =>
  `<g transform="translate(${x} ${y}) scale(${scale})"><ellipse rx="120" ry="42"/><circle cx="-40" cy="-34" r="56"/><circle cx="44" cy="-26" r="44"/></g>`;

/** Places spread over the width of the picture that look random, and are always the same. */
const spread = (count: number, draw: (x: number, wobble: number) => string): string =>
  Array.from({ length: count }, (_, i) => draw(((i + 0.5) * 1_600) / count, ((i * 7_919) % 97) / 97)).join('');

const blades = (): string =>
  `<g stroke="#6c9a52" stroke-width="9" stroke-linecap="round">${spread(46, (x, wobble) => `<path d="M${x + wobble * 20} ${1_110 + wobble * 30}l${wobble * 24 - 12}-${50 + wobble * 40}"/>`)}</g>`;

const flowers = (): string =>
  spread(13, (x, wobble) => {
    const [at, up] = [x + wobble * 60 - 30, 1_090 + wobble * 70];
    return `<g transform="translate(${at} ${up})"><g fill="${wobble > 0.5 ? '#fff' : '#f6d35b'}"><circle cx="-11" r="11"/><circle cx="11" r="11"/><circle cy="-11" r="11"/><circle cy="11" r="11"/></g><circle r="8" fill="#e08a2e"/></g>`;
  });

const dots = (): string =>
  [150, 390, 630, 870].map((y, row) => spread(8, (x) => `<circle cx="${x + (row % 2) * 100}" cy="${y}" r="26"/>`)).join('');

const fence = (): string => `<path d="M0 760h960M0 850h960"/>${[80, 280, 480, 680, 880].map((x) => `<path d="M${x} 700v220"/>`).join('')}`;
