// The guide to orders shows the states of an order as a diagram and as a table. Both must match the program.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type CallerAction, orderActions, orderStates, orderStatuses, placing, scopesFor } from '../../src/domain/order-states.ts';
import { errorCodes } from '../../src/platform/errors.ts';

const guide = readFileSync(new URL('../../../docs/guides/orders.md', import.meta.url), 'utf8');

/** The transitions of the table of states, and the first state. */
const actions = [
  { name: 'place', from: [], to: placing.to, pet: placing.pet, scope: 'orders:write' },
  ...Object.entries(orderActions).map(([name, action]) => ({
    name,
    ...action,
    scope: action.by === 'service' ? undefined : scopesFor(name as CallerAction),
  })),
];

describe('docs/guides/orders.md', () => {
  test('has every transition of an order and no other in its diagram', () => {
    const [, diagram = ''] = /```mermaid\nstateDiagram-v2\n([^`]*)```/.exec(guide) ?? [];
    const left = new Set<string>(actions.flatMap(({ from }) => [...from]));
    const transitions = actions.flatMap(({ name, from, to }) =>
      (from.length > 0 ? from : ['[*]']).map((one) => `${one} --> ${to}: ${name}`),
    );
    const ends = orderStatuses.filter((status) => !left.has(status)).map((status) => `${status} --> [*]`);
    expect(linesOf(diagram).sort()).toEqual([...transitions, ...ends].sort());
  });

  test('has every action in its table: from, to, the animal and the scope', () => {
    const rows = actions.map(({ name, from, to, pet, scope }) => [
      code(name),
      from.map(code).join(', ') || '–',
      code(to),
      pet ? code(pet.to) : 'unchanged',
      scope ? [scope].flat().map(code).join(' or ') : 'the service itself',
    ]);
    expect(tableUnder('| Action | From | To | The animal becomes | Needs |')).toEqual(rows);
  });

  test('has the meaning of each state, and a text for the adopter', () => {
    const rows = tableUnder('| State | Meaning | Tell the adopter |');
    expect(rows.map(([status, meaning]) => [status, meaning])).toEqual(
      orderStatuses.map((status) => [code(status), orderStates[status].meaning]),
    );
    expect(rows.every(([, , text]) => text)).toBe(true);
  });

  test('has the right status for each error code', () => {
    const rows = tableUnder('| Status | Code | What it means | What to do |').map(([status, name]) => [name, status]);
    const statuses = Object.fromEntries(Object.entries(errorCodes).map(([name, { status }]) => [code(name), String(status)]));
    expect(rows).toEqual(rows.map(([name = '']) => [name, statuses[name]]));
    expect(rows.length).toBeGreaterThan(0);
  });
});

const code = (text: string) => `\`${text}\``;

const linesOf = (text: string) =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);

/** The cells of the Markdown table that has this header. */
function tableUnder(header: string): string[][] {
  const [, rest = ''] = guide.split(`${header}\n`);
  const [table = ''] = rest.split('\n\n');
  return linesOf(table)
    .slice(1)
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}
