import stringWidth from 'string-width';
import { describe, expect, test } from 'vitest';
import { fittedTable, plainTable, recordLines, relativeTime, type Style, wrapWords } from '../../src/cli/terminal/table.ts';

const nowMs = Date.parse('2026-11-15T10:00:00Z');
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const at = (awayMs: number) => new Date(nowMs + awayMs);
const screen = (widthMax: number) => ({ widthMax, nowMs, paint: (style: Style, text: string) => `<${style}>${text}</>` });
const withoutMarks = (line: string) => line.replace(/<\w+>|<\/>/g, '');

const rows = [
  { id: 7n, client: 'Happy Tails', state: 'active', scopes: ['pets:read', 'pets:write', 'orders:read'], created: at(-3 * minuteMs) },
  { id: 12n, client: '東京のどうぶつ保護センター 🐶', state: 'revoked', scopes: ['pets:read'], created: at(-3 * dayMs) },
  { id: 130n, client: `👩‍👩‍👧\u001b[2J${'é'.repeat(190)}`, state: 'expired', scopes: 'all', created: null },
];

describe('a table on a terminal', () => {
  test('cuts long text, aligns numbers to the right, and shows how long ago', () => {
    expect(fittedTable(rows, screen(80)).map(withoutMarks)).toEqual([
      ' id  client                      state    scopes                      created',
      '  7  Happy Tails                 active   pets:read,pets:write,orde…  3 min ago',
      ' 12  東京のどうぶつ保護センタ…   revoked  pets:read                   3 days ago',
      '130  👩‍👩‍👧\\u{1b}[2Jéééééééééééééé…  expired  all                         -',
    ]);
  });

  test('colours the headings, the states and what is missing, and nothing else', () => {
    const marked = fittedTable(rows, screen(80))
      .join('\n')
      .match(/<\w+>[^<]*/g);
    expect(marked).toEqual([expect.stringMatching(/^<dim> id {2}client.*created$/), '<green>active', '<red>revoked', '<dim>-']);
  });

  test.each([40, 50, 60, 70, 80, 100, 120, 300])('is at most %d wide, whatever its characters', (widthMax) => {
    const lines = fittedTable(rows, screen(widthMax), ['scopes', 'created']).map(withoutMarks);
    expect(lines.filter((line) => stringWidth(line) > widthMax)).toEqual([]);
  });

  test('leaves out the least important columns first, and names them', () => {
    expect(fittedTable(rows, screen(46), ['scopes', 'created']).map(withoutMarks)).toEqual([
      ' id  client                state    created',
      '  7  Happy Tails           active   3 min ago',
      ' 12  東京のどうぶつ保護…   revoked  3 days ago',
      '130  👩‍👩‍👧\\u{1b}[2Jéééééééé…  expired  -',
      '',
      'Too narrow for: scopes. See --json.',
    ]);
  });

  test('becomes a block for each row where nothing more can be left out', () => {
    expect(fittedTable(rows.slice(0, 2), screen(30)).map(withoutMarks)).toEqual([
      'id       7',
      'client   Happy Tails',
      'state    active',
      'scopes   pets:read,pets:write…',
      'created  3 min ago',
      '',
      'id       12',
      'client   東京のどうぶつ保護セ…',
      'state    revoked',
      'scopes   pets:read',
      'created  3 days ago',
    ]);
  });

  test('cuts the name before an id, and not the id', () => {
    const named = [{ animal: 'Wolfgang Amadeus (1024)', client: '東京のどうぶつ保護センター (3)' }];
    expect(fittedTable(named, screen(44)).map(withoutMarks)[1]).toBe('Wolfgang Amad… (1024)  東京のどうぶつ保… (3)');
    expect(fittedTable(named, screen(30), ['client', 'animal']).map(withoutMarks)[1]).toBe('Wolfga… (1024)  東京のど… (3)');
  });

  test('never cuts a number, a time or a state', () => {
    const [row] = fittedTable(
      [{ id: 123_456_789_012n, name: 'x'.repeat(40), state: 'suspended', until: at(2 * hourMs) }],
      screen(53),
    ).slice(1);
    expect(withoutMarks(row ?? '')).toBe('123456789012  xxxxxxxxxxxxxxxxxxx…  suspended  in 2 h');
  });
});

test('elsewhere a table is complete: no cell is cut, no colour, and times are ISO 8601', () => {
  const [head, first, , last] = plainTable(rows);
  expect(head).toMatch(/^id {3}client +state {4}scopes +created$/);
  expect(first).toMatch(/^7 {4}Happy Tails +active +pets:read,pets:write,orders:read {2}2026-11-15T09:57:00.000Z$/);
  expect(last).toContain('é'.repeat(190));
});

test('a record leaves out what is missing, and is complete outside a terminal', () => {
  const record = { id: 3n, status: 'approved', notes: null, placed: at(-hourMs), adopter: 'Ada\u0007' };
  expect(recordLines(record, screen(80))).toEqual([
    '<dim>id     </>  3',
    '<dim>status </>  <cyan>approved</>',
    '<dim>placed </>  1 h ago',
    '<dim>adopter</>  Ada\\u{7}',
  ]);
  expect(recordLines(record)).toEqual(['id       3', 'status   approved', 'placed   2026-11-15T09:00:00.000Z', 'adopter  Ada\\u{7}']);
});

test.each<[awayMs: number, text: string]>([
  [0, 'now'],
  [-4_999, 'now'],
  [-5_000, '5 s ago'],
  [59_999, 'in 59 s'],
  [-3 * minuteMs, '3 min ago'],
  [2 * hourMs, 'in 2 h'],
  [-dayMs, '1 day ago'],
  [60 * dayMs, 'in 60 days'],
  [-61 * dayMs, '2026-09-15'],
  [61 * dayMs, '2027-01-15'],
])('a time %d ms from now is "%s"', (awayMs, text) => {
  expect(relativeTime(at(awayMs), nowMs)).toBe(text);
});

test.each<[text: string, widthMax: number, lines: string[]]>([
  ['No animal ever had two open orders', 12, ['No animal', 'ever had two', 'open orders']],
  ['short', 80, ['short']],
  ['', 80, ['']],
  ['a verylongword b', 6, ['a', 'verylongword', 'b']],
  ['東京 大阪 京都', 10, ['東京 大阪', '京都']],
])('"%s" is wrapped at %d', (text, widthMax, lines) => {
  expect(wrapWords(text, widthMax)).toEqual(lines);
});
