// What guides and pages of docs/operations show as tables and diagrams is what the program has.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { ProfileSchema } from '../../src/animals/profiles/profile-schemas.ts';
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
import { holdReasons } from '../../src/domain/holds.ts';
import { listingFilters } from '../../src/domain/listing-filters.ts';
import { type CallerAction, orderActions, orderStates, orderStatuses, placing, scopesFor } from '../../src/domain/order-states.ts';
import { outcomes, outcomeTypes, outcomeUndoing } from '../../src/domain/outcomes.ts';
import { ageBandEndYears, ageBands, coats, companions, sexes, sizes } from '../../src/domain/profile-fields.ts';
import { scopes, scopeTable } from '../../src/domain/scopes.ts';
import { metricTable } from '../../src/operations/telemetry/metric-table.ts';
import { compareReleases, migrationsDir, readMigrations } from '../../src/platform/db/migration-files.ts';
import { planFrom } from '../../src/platform/db/migration-plan.ts';
import { errorCodes } from '../../src/platform/errors.ts';
import { addPet, createManager } from '../adoption-steps.ts';
import { createTestStore } from '../test-store.ts';
import { fillFigures } from './source-figures.ts';

const readDocument = (name: string) => readFileSync(new URL(`../../../docs/${name}`, import.meta.url), 'utf8');
const code = (text: string) => `\`${text}\``;
const linesOf = (text: string) =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
const diagramOf = (guide: string) => linesOf(/```mermaid\nstateDiagram-v2\n([^`]*)```/.exec(guide)?.[1] ?? '').sort();

/** The cells of the Markdown table that has this header. */
function tableUnder(guide: string, header: string): string[][] {
  const [, rest = ''] = guide.split(`${header}\n`);
  const [table = ''] = rest.split('\n\n');
  return linesOf(table)
    .slice(1)
    .map((line) => line.slice(2, -2).split(' | '));
}

test.each(['orders', 'applications', 'profiles'])('docs/guides/%s.md has the right status for each error code', (name) => {
  const rows = tableUnder(readDocument(`guides/${name}.md`), '| Status | Code | What it means | What to do |').map(([status, one]) => [
    one,
    status,
  ]);
  const statuses = Object.fromEntries(Object.entries(errorCodes).map(([one, { status }]) => [code(one), String(status)]));
  expect(rows).toEqual(rows.map(([one = '']) => [one, statuses[one]]));
  expect(rows.length).toBeGreaterThan(4);
});

test.each([
  ['orders', orderStatuses.map((status) => [code(status), orderStates[status].meaning])],
  ['applications', applicationStatuses.map((status) => [code(status), applicationStates[status].meaning])],
])('docs/guides/%s.md has the meaning of each state, and a text for the adopter', (name, meanings) => {
  const rows = tableUnder(readDocument(`guides/${name}.md`), '| State | Meaning | Tell the adopter |');
  expect(rows.map(([status, meaning]) => [status, meaning])).toEqual(meanings);
  expect(rows.every(([, , text]) => text)).toBe(true);
});

describe('docs/guides/orders.md', () => {
  const guide = readDocument('guides/orders.md');
  /** The transitions of the table of states, and the first state. */
  const actions = [
    { name: 'place', from: [], to: placing.to, pet: placing.pet, scope: 'orders:write' },
    ...Object.entries(orderActions).map(([name, action]) => ({
      name,
      ...action,
      scope: action.by === 'service' ? undefined : scopesFor(name as CallerAction),
    })),
  ];

  test('has every transition of an order and no other in its diagram', () => {
    const left = new Set<string>(actions.flatMap(({ from }) => [...from]));
    const transitions = actions.flatMap(({ name, from, to }) =>
      (from.length > 0 ? from : ['[*]']).map((one) => `${one} --> ${to}: ${name}`),
    );
    const ends = orderStatuses.filter((status) => !left.has(status)).map((status) => `${status} --> [*]`);
    expect(diagramOf(guide)).toEqual([...transitions, ...ends].sort());
  });

  test('has every action in its table: from, to, the animal and the scope', () => {
    const rows = actions.map(({ name, from, to, pet, scope }) => [
      code(name),
      from.map(code).join(', ') || '–',
      code(to),
      pet ? code(pet.to) : 'unchanged',
      scope ? [scope].flat().map(code).join(' or ') : 'the service itself',
    ]);
    expect(tableUnder(guide, '| Action | From | To | The animal becomes | Needs |')).toEqual(rows);
  });
});

describe('docs/guides/applications.md', () => {
  const guide = readDocument('guides/applications.md');
  const actionNames = Object.keys(applicationActions) as ApplicationActionName[];
  const first = [unconfirmed, applicationActions.confirm.to];
  const isCallers = (name: string): name is ApplicationCallerAction => (applicationCallerActions as readonly string[]).includes(name);

  test('has every transition of an application and no other in its diagram', () => {
    const transitions = actionNames.flatMap((name) => startsOf(name).map((one) => `${one} --> ${applicationActions[name].to}: ${name}`));
    const left = new Set<string>(actionNames.flatMap(startsOf));
    const ends = applicationStatuses.filter((status) => !left.has(status)).map((status) => `${status} --> [*]`);
    const starts = first.map((status) => `[*] --> ${status}: submit`);
    expect(diagramOf(guide)).toEqual([...starts, ...transitions, ...ends].sort());
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
    expect(tableUnder(guide, '| Action | From | To | Done by | Needs |')).toEqual([submit, ...rows]);
  });

  test('has the meaning of each reason', () => {
    expect(tableUnder(guide, '| `closedReason` | Meaning |')).toEqual(
      closedReasonNames.map((name) => [code(name), closedReasons[name].meaning]),
    );
  });

  test('says how applications follow their order and their animal', () => {
    const rows = tableUnder(guide, '| What happens | The accepted application | The other open ones |');
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
});

describe('docs/guides/profiles.md', () => {
  const listed = (values: readonly string[]) => `${values.slice(0, -1).map(code).join(', ')} or ${code(values.at(-1) ?? '')}`;
  const rows = tableUnder(readDocument('guides/profiles.md'), '| Field | What it is |');
  const meanings = Object.fromEntries(rows.flatMap(([names = '', what = '']) => names.split(', ').map((name) => [name, what])));

  test('has every field', () => {
    expect(Object.keys(meanings)).toEqual(Object.keys(ProfileSchema.properties).map(code));
  });

  test('has every value of the fields that have a choice', () => {
    expect(meanings['`sex`']).toContain(listed(sexes));
    expect(meanings['`size`']).toContain(listed(sizes));
    expect(meanings['`coat`']).toContain(listed(coats));
    for (const companion of companions) expect(meanings['`goodWith`']).toContain(code(companion));
    const { baby, young, adult } = ageBandEndYears;
    expect(meanings['`age`']).toContain(`\`baby\` under ${baby} year, \`young\` under ${young}, \`adult\` under ${adult}, then \`senior\``);
    expect(ageBands).toHaveLength(4);
  });

  test.each([
    ['`description`', 'up to {descriptionLengthMax} characters'],
    ['`breeds`', 'up to {lineLengthMax} characters'],
    ['`colors`', 'up to {colorsMax}'],
    ['`bondedWith`', 'up to {bondedMax} animals'],
    ['`tags`', 'up to {tagsMax}, of up to {labelLengthMax} characters each'],
    ['`attributes`', 'up to {attributesMax} pairs'],
    ['`attributes`', 'names of up to {lineLengthMax} and values of up to {valueLengthMax} characters'],
  ])('has the bound of %s: %s', (field, phrase) => {
    expect(meanings[field]).toContain(fillFigures(phrase, ['domain/profile-fields.ts', 'animals/profiles/profile-schemas.ts']));
  });
});

describe('docs/guides/holds.md', () => {
  const guide = readDocument('guides/holds.md');

  test('has a row for every reason of a hold, and every type of an outcome that means something', () => {
    const [, table = ''] = /\n## Which one\n(.*?)\n## /s.exec(guide) ?? [];
    const named = [...table.matchAll(/`(\w+)`/g)].map(([, name]) => name);
    const meant = (all: readonly string[]) => all.filter((one) => one !== 'other');
    expect(named).toEqual([...meant(holdReasons), ...meant(outcomeTypes)]);
  });

  test('says that an outcome that is undone leaves the animal pending, without the hold that it had', async () => {
    expect(guide).toContain(`For ${outcomeUndoing.days} days an outcome can be undone: the animal comes back as ${outcomeUndoing.to},`);
    expect(guide).toContain('A hold that it had does not come back');
    await using store = await createTestStore();
    const manager = await createManager(store);
    const { id } = await addPet(store, manager);
    const call = (method: string, path: string, body?: object) =>
      store.call<{ status: string }>(method, `/v1/pets/${id}${path}`, { key: manager.key, ...(body && { body }) });
    expect((await call('PUT', '/hold', { reason: 'medical' })).status).toBe(200);
    expect((await call('POST', '/outcome', { type: 'escaped' })).status).toBe(201);
    expect((await call('DELETE', '/outcome')).json.status).toBe('pending');
    expect((await call('GET', '/hold')).status).toBe(404);
  });
});

describe('docs/guides/shelters.md, "Record an outcome"', () => {
  const [section = ''] = /(?<=\n## Record an outcome\n).*?(?=\n## )/s.exec(readDocument('guides/shelters.md')) ?? [];

  test('has every outcome with its meaning', () => {
    const rows = [...section.matchAll(/^\| `(\w+)` \| (.+\.) \|$/gm)].map(([, type, meaning]) => [type, { meaning }]);
    expect(Object.fromEntries(rows)).toEqual(outcomes);
  });

  test('says for how long an outcome can be undone, and what the animal is then', () => {
    expect(section).toContain(`For ${outcomeUndoing.days} days an outcome can be undone.`);
    expect(section).toContain(`as \`${outcomeUndoing.to}\``);
  });
});

test('docs/guides/listings.md names every filter', () => {
  expect(Object.keys(listingFilters).filter((name) => !readDocument('guides/listings.md').includes(`\`${name}\``))).toEqual([]);
});

test('docs/operations/partners.md has a row for each scope: who gets it, and what it permits', () => {
  const document = readDocument('operations/partners.md');
  const [, table = ''] = /^\| Scope \| Given to \| What it permits \|\n.*\n((?:\|.*\n)+)/m.exec(document) ?? [];
  const rows = scopes.map((scope) => `| \`${scope}\` | ${scopeTable[scope].givenTo} | ${scopeTable[scope].meaning} |`);
  expect(table.trimEnd().split('\n')).toEqual(rows);
});

// What each means is in its `# HELP` line alone.
test('docs/operations/metrics.md lists every metric, with its processes and labels', () => {
  const processesOf = {
    all: 'all',
    http: '`serve`, `console`',
    serve: '`serve`',
    console: '`console`',
    worker: '`worker`',
  } as const;
  const rows = Object.entries(metricTable).map(([name, { in: where, labels }]) => {
    const names = labels.length > 0 ? `{${labels.join(',')}}` : '';
    return `| \`${name}${names}\` | ${processesOf[where]} |`;
  });
  const listed = readDocument('operations/metrics.md')
    .split('\n')
    .filter((line) => /^\| `(homeward|process)_/.test(line));
  expect(listed).toEqual(rows);
});

describe('docs/operations/database.md', () => {
  const files = readMigrations(migrationsDir);
  const releases = [...new Set(planFrom(files, []).pending.map(({ release }) => release))].toSorted(compareReleases);

  test('says of each release whether the one before runs on its schema, as its migrations do', () => {
    const document = readDocument('operations/database.md');
    const [, table = ''] = /^\| Schema of \|.*\n.*\n((?:\|.*\n)+)/m.exec(document) ?? [];
    expect(table.trimEnd().split('\n')).toEqual(releases.map(rowOf));
  });

  function rowOf(release: string, i: number): string {
    const before = releases[i - 1];
    if (before === undefined) return `| ${release} | | |`;
    const { oldestRelease, obstacles } = planFrom(
      files.filter(
        ({ name }) => !planFrom(files, []).pending.some((one) => one.name === name && compareReleases(one.release, release) > 0),
      ),
      [],
    );
    const why = obstacles.map(({ name, reason }) => `\`${name}\`, ${reason}`).join('; ');
    return `| ${release} | ${before} | ${compareReleases(before, oldestRelease) < 0 ? `no: ${why}` : 'yes'} |`;
  }
});
