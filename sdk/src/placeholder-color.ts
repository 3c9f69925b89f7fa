const shades = 63;

/**
 * The average colour of a photo, from its `placeholder`, such as `#b59a7c`: show it until the photo is loaded. Undefined without a
 * placeholder. The rest of a placeholder is a blurred picture: libraries for ThumbHash decode it.
 */
export function placeholderColor(placeholder: string | null): string | undefined {
  if (placeholder === null || !/^[\w+/]{4}/.test(placeholder)) return undefined;
  const [first = 0, second = 0, third = 0] = Array.from(atob(placeholder.slice(0, 4)), (one) => one.charCodeAt(0));
  const bits = first | (second << 8) | (third << 16);
  // Six bits each: the luminance from 0 to 1, and two differences of colours from -1 to 1.
  const [luminance = 0, yellowBlue = 0, redGreen = 0] = [0, 6, 12].map((at) => ((bits >> at) & shades) / shades);
  const blue = luminance - (2 / 3) * (yellowBlue * 2 - 1);
  const red = (3 * luminance - blue + redGreen * 2 - 1) / 2;
  return `#${[red, red - (redGreen * 2 - 1), blue].map(toHex).join('')}`;
}

const toHex = (share: number): string =>
  Math.round(255 * Math.min(1, Math.max(0, share)))
    .toString(16)
    .padStart(2, '0');
