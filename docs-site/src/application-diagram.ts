import {
  type ApplicationActionName,
  type ApplicationStatus,
  applicationActions,
  applicationStatuses,
  openApplicationStatuses,
  startsOf,
} from '../../service/src/domain/application-states.ts';
import { type Html, html } from '../../service/src/platform/html.ts';

const box = { width: 116, height: 44 };
const step = { x: 192, y: 128 };
const margin = 20;
/** Above the first row, where an arrow passes a state. */
const headroom = 56;
/** Between the boxes of the open statuses and their frame. */
const frameGap = 22;
/** Between two arrows that go opposite ways. */
const apart = 30;

const actionNames = Object.keys(applicationActions) as ApplicationActionName[];

interface Place {
  readonly column: number;
  readonly row: number;
}

/** The open statuses are neighbours in the first row. */
const places: Readonly<Record<ApplicationStatus, Place>> = {
  unconfirmed: { column: 0, row: 0 },
  submitted: { column: 1, row: 0 },
  reviewing: { column: 2, row: 0 },
  accepted: { column: 3, row: 0 },
  completed: { column: 4, row: 0 },
  declined: { column: 1, row: 1 },
  closed: { column: 2, row: 1 },
  withdrawn: { column: 3, row: 1 },
};

interface Drawn {
  readonly path: string;
  readonly label: { readonly x: number; readonly y: number };
  readonly name: string;
}

/** The states of an application and the actions between them, drawn from the table of states. The style sheet colours it. */
export function applicationDiagramFigure(): Html {
  const width = 2 * margin + 4 * step.x + box.width;
  const height = headroom + step.y + box.height + margin;
  const words = actionNames.map((name) => `${name} changes ${startsOf(name).join(' or ')} to ${applicationActions[name].to}`);
  const boxes = applicationStatuses.map((status) => {
    const { x, y } = at(status);
    return html`<rect x="${x}" y="${y}" width="${box.width}" height="${box.height}" rx="10"/><text x="${x + box.width / 2}" y="${y + box.height / 2 + 5}">${status}</text>`;
  });
  const arrows = drawnArrows().map(
    ({ path, label, name }) =>
      html`<path d="${path}" marker-end="url(#tip)"/><text class="label" x="${label.x}" y="${label.y}">${name}</text>`,
  );
  const { x, y, right, bottom } = frame();
  const outline = html`<path class="frame" d="M${x} ${y}H${right}V${bottom}H${x}Z"/><text class="label" x="${x + 28}" y="${y - 6}">open</text>`;
  return html`<figure class="diagram" tabindex="0"><svg role="img" aria-label="The states of an application. It starts as unconfirmed or submitted. ${words.join(', ')}." viewBox="0 0 ${width} ${height}" width="${width}" height="${height}"><defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0 10 5 0 10z"/></marker></defs>${outline}${arrows}${boxes}</svg></figure>
`;
}

const at = (status: ApplicationStatus) => ({
  x: margin + places[status].column * step.x,
  y: headroom + places[status].row * step.y,
});

function frame() {
  const columns = openApplicationStatuses.map((status) => at(status).x);
  const top = headroom - frameGap;
  return {
    x: Math.min(...columns) - frameGap,
    y: top,
    right: Math.max(...columns) + box.width + frameGap,
    bottom: headroom + box.height + frameGap,
  };
}

/** What every open status allows is one arrow from their frame. */
const isOfFrame = (name: ApplicationActionName) => openApplicationStatuses.every((status) => startsOf(name).includes(status));

const drawnArrows = (): Drawn[] =>
  actionNames.flatMap((name) => {
    const { to } = applicationActions[name];
    if (isOfFrame(name)) return [{ name, ...fromFrame(to) }];
    return startsOf(name).map((one) => ({ name, ...arrow(one, to) }));
  });

/** Straight down from the frame to a status below it. */
function fromFrame(to: ApplicationStatus): Omit<Drawn, 'name'> {
  const end = at(to);
  const x = end.x + box.width / 2 + (hasReturn(to) ? apart : 0);
  const { bottom } = frame();
  return { path: `M${x} ${bottom}V${end.y - 2}`, label: { x: x + 36, y: (bottom + end.y) / 2 + 4 } };
}

/** Whether an action leads from a status below the frame back up. */
const hasReturn = (status: ApplicationStatus) => actionNames.some((name) => startsOf(name).includes(status));

function arrow(from: ApplicationStatus, to: ApplicationStatus): Omit<Drawn, 'name'> {
  const [start, end] = [at(from), at(to)];
  const middle = { x: start.x + box.width / 2, y: start.y + box.height / 2 };
  const columns = places[to].column - places[from].column;
  const isDown = places[to].row > places[from].row;
  if (start.y === end.y && columns === 1) {
    return { path: `M${start.x + box.width} ${middle.y}H${end.x - 2}`, label: { x: (start.x + box.width + end.x) / 2, y: middle.y - 8 } };
  }
  if (start.y === end.y) {
    // Over the states between them.
    const top = start.y - 36;
    const target = end.x + box.width / 2;
    const path = `M${middle.x} ${start.y}V${top + 12}q0 -12 12 -12H${target - 12}q12 0 12 12V${end.y - 2}`;
    return { path, label: { x: (middle.x + target) / 2, y: top - 6 } };
  }
  const x = middle.x - apart;
  if (columns === 0 && isDown)
    return { path: `M${x} ${start.y + box.height}V${end.y - 2}`, label: { x: x - 28, y: (start.y + box.height + end.y) / 2 + 12 } };
  if (columns === 0)
    return { path: `M${x} ${start.y}V${end.y + box.height + 2}`, label: { x: middle.x, y: (end.y + box.height + start.y) / 2 + 15 } };
  // Diagonally between two columns.
  const [above, below] = isDown ? [start, end] : [end, start];
  const left = isDown ? { x: above.x + 18, y: above.y + box.height } : { x: above.x + 2, y: above.y + box.height + 2 };
  const right = isDown ? { x: below.x + box.width - 2, y: below.y - 2 } : { x: below.x + box.width - apart, y: below.y };
  const path = isDown ? `M${left.x} ${left.y}L${right.x} ${right.y}` : `M${right.x} ${right.y}L${left.x} ${left.y}`;
  const label = { x: (left.x + right.x) / 2 + (isDown ? 30 : -30), y: (left.y + right.y) / 2 + (isDown ? 14 : -2) };
  return { path, label };
}
