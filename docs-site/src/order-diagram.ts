import { type OrderStatus, orderActions, orderStatuses, placing } from '../../service/src/domain/order-states.ts';
import { type Html, html } from '../../service/src/platform/html.ts';

const box = { width: 116, height: 44 };
const step = { x: 208, y: 92 };
const margin = 16;

/** The states of an order and the actions between them, drawn from the table of states. The style sheet colours it. */
export function orderDiagramFigure(): Html {
  const at = places();
  const { width, height } = sizeOf(at);
  const words = edges().map(({ from, to, name }) => `${name} changes ${from} to ${to}`);
  const boxes = orderStatuses.map((status) => {
    const { x, y } = at[status];
    return html`<rect x="${x}" y="${y}" width="${box.width}" height="${box.height}" rx="10"/><text x="${x + box.width / 2}" y="${y + box.height / 2 + 5}">${status}</text>`;
  });
  const arrows = edges().map(({ from, to, name }) => {
    const { path, label } = arrow(at[from], at[to]);
    return html`<path d="${path}" marker-end="url(#tip)"/><text class="label" x="${label.x}" y="${label.y}">${name}</text>`;
  });
  return html`<figure class="diagram" tabindex="0"><svg role="img" aria-label="The states of an order. It starts as ${placing.to}. ${words.join(', ')}." viewBox="0 0 ${width} ${height}" width="${width}" height="${height}"><defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0 10 5 0 10z"/></marker></defs>${arrows}${boxes}</svg></figure>
`;
}

interface Point {
  readonly x: number;
  readonly y: number;
}

const edges = () =>
  Object.entries(orderActions).flatMap(([name, { from, to }]) =>
    (from as readonly OrderStatus[]).map((one) => ({ from: one, to: to as OrderStatus, name })),
  );

/** One column for each number of steps from the first state. Within a column, states are in the order of the table. */
function places(): Record<OrderStatus, Point> {
  const columns = new Map<OrderStatus, number>([[placing.to, 0]]);
  // Each round finds at least one more state, until all are found.
  for (const _ of orderStatuses) {
    for (const { from, to } of edges()) {
      const column = columns.get(from);
      if (column !== undefined && !columns.has(to)) columns.set(to, column + 1);
    }
  }
  const taken = new Map<number, number>();
  const points = orderStatuses.map((status) => {
    const column = columns.get(status) ?? 0;
    const row = taken.get(column) ?? 0;
    taken.set(column, row + 1);
    return [status, { x: margin + column * step.x, y: margin + row * step.y }] as const;
  });
  return Object.fromEntries(points) as Record<OrderStatus, Point>;
}

function sizeOf(at: Record<OrderStatus, Point>): { width: number; height: number } {
  const points = Object.values(at);
  return {
    width: Math.max(...points.map(({ x }) => x)) + box.width + margin,
    height: Math.max(...points.map(({ y }) => y)) + box.height + margin,
  };
}

/** A straight line within a row or a column. Otherwise down from the first box and into the second from the left. */
function arrow(from: Point, to: Point): { path: string; label: Point } {
  const middle = { x: from.x + box.width / 2, y: from.y + box.height / 2 };
  if (from.y === to.y) {
    return { path: `M${from.x + box.width} ${middle.y}H${to.x - 2}`, label: { x: (from.x + box.width + to.x) / 2, y: middle.y - 8 } };
  }
  if (from.x === to.x)
    return { path: `M${middle.x} ${from.y + box.height}V${to.y - 2}`, label: { x: middle.x, y: (from.y + box.height + to.y) / 2 + 4 } };
  const end = { x: to.x - 2, y: to.y + box.height / 2 };
  return {
    path: `M${middle.x} ${from.y + box.height}V${end.y - 12}q0 12 12 12H${end.x}`,
    label: { x: (middle.x + end.x) / 2 + 8, y: end.y - 8 },
  };
}
