// The guide to applications shows their states as a diagram and as tables. All must match the program.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import {
  type ApplicationActionName,
  type ApplicationCallerAction,
  afterOrder,
  applicationActions,
  applicationCallerActions,
  applicationStates,
  applicationStatuses,
  applicationWriteScopes,
  closedBy,
  closedReasonNames,
  closedReasons,
  scopesForApplication,
  startsOf,
  unconfirmed,
} from '../../src/domain/application-states.ts';
import { errorCodes } from '../../src/platform/errors.ts';

const guide = readFileSync(new URL('../../../docs/guides/applications.md', import.meta.url), 'utf8');
const actionNames = Object.keys(applicationActions) as ApplicationActionName[];
const first = [unconfirmed, applicationActions.confirm.to];

describe('docs/guides/applications.md', () => {
  test('has every transition of an application and no other in its diagram', () => {
    const [, diagram = ''] = /```mermaid\nstateDiagram-v2\n([^`]*)```/.exec(guide) ?? [];
    const transitions = actionNames.flatMap((name) => startsOf(name).map((one) => `${one} --> ${applicationActions[name].to}: ${name}`));
    const left = new Set<string>(actionNames.flatMap(startsOf));
    const ends = applicationStatuses.filter((status) => !left.has(status)).map((status) => `${status} --> [*]`);
    const starts = first.map((status) => `[*] --> ${status}: submit`);
    expect(linesOf(diagram).sort()).toEqual([...starts, ...transitions, ...ends].sort());
  });

  test('has every action in its table: from, to, who does it, and the scopes', () => {
    const inWords: unknown = expect.stringMatching(/^[^`]+$/);
    const { lately } = applicationActions.reopen;
    const rows = Object.entries(applicationActions).map(([name, { from, to, by }]) => [
      code(name),
      [...from.map(code), ...(name === 'reopen' ? [`${code(lately.from)} (${lately.days} days, if by the ${lately.by})`] : [])].join(', '),
      code(to),
      by.join(', '),
      isCallers(name) ? scopesForApplication(name).map(code).join(' or ') : inWords,
    ]);
    const submit = [code('submit'), '–', first.map(code).join(' or '), 'client, staff', applicationWriteScopes.map(code).join(' or ')];
    expect(tableUnder('| Action | From | To | Done by | Needs |')).toEqual([submit, ...rows]);
  });

  test('has the meaning of each state, and a text for the adopter', () => {
    const rows = tableUnder('| State | Meaning | Tell the adopter |');
    expect(rows.map(([status, meaning]) => [status, meaning])).toEqual(
      applicationStatuses.map((status) => [code(status), applicationStates[status].meaning]),
    );
    expect(rows.every(([, , text]) => text)).toBe(true);
  });

  test('has the meaning of each reason', () => {
    expect(tableUnder('| `closedReason` | Meaning |')).toEqual(closedReasonNames.map((name) => [code(name), closedReasons[name].meaning]));
  });

  test('says how applications follow their order and their animal', () => {
    const rows = tableUnder('| What happens | The accepted application | The other open ones |');
    const ends = (['completed', 'cancelled'] as const).map((status) => {
      const end = afterOrder(status);
      return [`The order becomes ${code(status)}`, end?.to === 'closed' ? `${code(end.to)}: ${code(end.reason)}` : code(end?.to ?? '')];
    });
    expect(rows.slice(0, 2).map(([what, accepted]) => [what, accepted])).toEqual(ends);
    expect(rows.slice(3, 5).map(([what, , others]) => [what, others])).toEqual([
      ['Staff set the animal to `sold`', `${code('closed')}: ${code(closedBy.sold)}`],
      ['The animal is removed', `${code('closed')}: ${code(closedBy.removed)}`],
    ]);
  });

  test('has the right status for each error code', () => {
    const rows = tableUnder('| Status | Code | What it means | What to do |').map(([status, name]) => [name, status]);
    const statuses = Object.fromEntries(Object.entries(errorCodes).map(([name, { status }]) => [code(name), String(status)]));
    expect(rows).toEqual(rows.map(([name = '']) => [name, statuses[name]]));
    expect(rows.length).toBeGreaterThan(0);
  });
});

const isCallers = (name: string): name is ApplicationCallerAction => (applicationCallerActions as readonly string[]).includes(name);
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
