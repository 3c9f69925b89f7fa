import type { ContenderResult, ScenarioResult } from './summary.ts';

const width = 760;
const labelWidth = 210;
const valueWidth = 70;
const rowHeight = 34;
const barHeight = 18;
const top = 52;

/** Horizontal bars with whiskers from the lowest to the highest round. Readable on a light and on a dark background. */
export function drawBars({ name, about, seconds, rounds, contenders }: ScenarioResult): string {
  const highest = Math.max(...contenders.map(({ perSecond }) => perSecond.max));
  const scale = (width - labelWidth - valueWidth) / highest;
  const height = top + contenders.length * rowHeight + 10;
  const bars = contenders.map((contender, row) => drawBar(contender, top + row * rowHeight, scale));
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>${escaped(`${name}: requests per second`)}</title>
<desc>${escaped(contenders.map(({ label, perSecond }) => `${label}: ${grouped(perSecond.median)}`).join('; '))}</desc>
<style>
  svg { color: #1f2328; }
  text { font: 13px system-ui, sans-serif; fill: currentColor; }
  .title { font-weight: 600; }
  .note { font-size: 11px; opacity: 0.75; }
  .other { fill: currentColor; opacity: 0.3; }
  .own { fill: #2f7d4f; }
  .whisker { stroke: currentColor; stroke-width: 1.5; }
  @media (prefers-color-scheme: dark) {
    svg { color: #e6edf3; }
    .own { fill: #57ab78; }
  }
</style>
<text class="title" x="0" y="16">${escaped(about)}</text>
<text class="note" x="0" y="34">Requests per second, median of ${rounds} rounds of ${seconds} s; the line spans the lowest and the highest round</text>
${bars.join('\n')}
</svg>
`;
}

function drawBar({ name, label, perSecond: { median, min, max } }: ContenderResult, y: number, scale: number): string {
  const middle = y + barHeight / 2;
  const at = (value: number) => (labelWidth + value * scale).toFixed(1);
  const whisker = (x1: string, y1: number, x2: string, y2: number) => `<line class="whisker" x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}"/>`;
  return [
    `<text x="0" y="${middle + 4}">${escaped(label)}</text>`,
    `<rect class="${name.startsWith('homeward') ? 'own' : 'other'}" x="${labelWidth}" y="${y}" width="${(median * scale).toFixed(1)}" height="${barHeight}" rx="2"/>`,
    whisker(at(min), middle, at(max), middle),
    whisker(at(min), middle - 4, at(min), middle + 4),
    whisker(at(max), middle - 4, at(max), middle + 4),
    `<text x="${(labelWidth + max * scale + 8).toFixed(1)}" y="${middle + 4}">${grouped(median)}</text>`,
  ].join('\n');
}

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
const grouped = (value: number) => Math.round(value).toLocaleString('en');
