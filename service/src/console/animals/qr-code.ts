import { encode } from 'uqr';
import { Html } from '../../platform/html.ts';

/** The light frame that readers need, in modules. */
const border = 4;

/** A QR code as a drawing of one path. `text` may be nothing but a URL of the console's own making. */
export function qrCode(text: string, label: string): Html {
  const { data, size } = encode(text, { ecc: 'M', border });
  const runs = data.flatMap((row, y) => runsOf(row).map(({ x, length }) => `M${x} ${y}h${length}v1h-${length}z`));
  return new Html(
    `<svg class="qr" viewBox="0 0 ${size} ${size}" role="img" aria-label="${label}"><path class="light" d="M0 0h${size}v${size}H0z"/><path class="dark" d="${runs.join('')}"/></svg>`,
  );
}

/** Dark modules beside each other. */
function runsOf(row: readonly boolean[]): Array<{ readonly x: number; readonly length: number }> {
  const starts = row.flatMap((isDark, x) => (isDark && !row[x - 1] ? x : []));
  return starts.map((x) => {
    const end = row.indexOf(false, x);
    return { x, length: (end === -1 ? row.length : end) - x };
  });
}
