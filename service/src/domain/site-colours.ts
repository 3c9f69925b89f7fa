/** The grounds on which sites show the store's colour, as text and as buttons: the darkest of a light scheme, and the lightest of a dark one. */
const grounds = { accentLight: '#fdf7ee', accentDark: '#261e19' } as const;

export type SiteColour = keyof typeof grounds;
export const siteColours = Object.keys(grounds) as SiteColour[];
export const colourPattern = '^#[0-9a-fA-F]{6}$';

/** As WCAG 2.2 asks it of text. */
export const contrastMin = 4.5;

/** What is wrong with a colour: it can't be read on its ground, or what is written on it can't. Undefined: nothing. */
export function faultOfColour(name: SiteColour, colour: string): string | undefined {
  const ground = grounds[name];
  const contrast = contrastOf(colour, ground);
  if (contrast >= contrastMin) return undefined;
  const next = name === 'accentLight' ? 'Choose a darker one.' : 'Choose a lighter one.';
  return `${name} has a contrast of ${contrast.toFixed(1)} to the ground ${ground}, and needs ${contrastMin}; got ${colour}. ${next}`;
}

/** Of two colours, from 1 to 21 (WCAG 2.2). */
export function contrastOf(one: string, other: string): number {
  const [darker = 0, lighter = 0] = [luminanceOf(one), luminanceOf(other)].sort((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

function luminanceOf(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
