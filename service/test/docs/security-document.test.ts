// The tests and proofs that docs/security.md names exist, its queries can be planned, and its counts match its rows.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { describe, expect, inject, test } from 'vitest';
import { cloneTemplate } from '../databases.ts';
import { fencedBlocks, withoutBlocks } from './fenced-blocks.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const document = readFileSync(path.join(root, 'docs/security.md'), 'utf8');
const prose = withoutBlocks(document);

interface Row {
  readonly threat: string;
  readonly control: string;
  readonly shownBy: string;
}

const [, controls = ''] = prose.split(/^## Attackers and controls$/m, 2);
const rows: Row[] = tableRows(controls.split(/^## /m)[0] ?? '').map(([threat = '', control = '', shownBy = '']) => ({
  threat,
  control,
  shownBy,
}));

describe('The controls', () => {
  test('are in ten tables', () => {
    expect(rows.filter(({ threat }) => threat === 'Threat')).toHaveLength(10);
    expect(rows.length).toBeGreaterThan(50);
  });

  test('each have a test, a proof or a check', () => {
    const shown = ({ threat, shownBy }: Row) => threat === 'Threat' || /\.test\.ts`|proofs? `|`tools\//.test(shownBy);
    expect(rows.filter((row) => !shown(row))).toEqual([]);
  });
});

test('Every file that is named exists', () => {
  const names = [...prose.matchAll(/`([\w-]+(?:\/[\w-]+)*(?:\.test)?\.(?:ts|lua|sql|json|md))`/g)].map(([, name = '']) => name);
  expect(names.length).toBeGreaterThan(100);
  expect(names.filter((name) => !find(name))).toEqual([]);
});

describe('Every test that is named', () => {
  const pattern = /`([^`]+\.test\.ts)`((?:,? "[^"]+")*)/g;

  test('is in the file that is named before it', () => {
    const named = [...prose.matchAll(pattern)].flatMap(([, file = '', names = '']) =>
      [...names.matchAll(/"([^"]+)"/g)].map(([, name = '']) => ({ file, name })),
    );
    expect(named.length).toBeGreaterThan(50);
    expect(named.filter(({ file, name }) => !readFileSync(find(file) ?? '', 'utf8').includes(name))).toEqual([]);
  });

  test('follows its file', () => {
    expect(rows.filter(({ shownBy }) => shownBy.replaceAll(pattern, '').includes('"'))).toEqual([]);
  });
});

test('Every proof that is named exists', () => {
  const proofs = readFileSync(path.join(root, 'proofs/prove.ts'), 'utf8');
  const names = [...prose.matchAll(/\bproofs? ((?:`[a-z-]+`(?:, )?)+)/gi)].flatMap(([, list = '']) =>
    [...list.matchAll(/`([a-z-]+)`/g)].map(([, name = '']) => name),
  );
  expect(names.length).toBeGreaterThan(15);
  expect(names.filter((name) => !proofs.includes(`/${name}.ts'`))).toEqual([]);
});

test('The number of dependencies is that of the package', () => {
  const { dependencies } = JSON.parse(readFileSync(path.join(root, 'service/package.json'), 'utf8')) as { dependencies: object };
  expect(prose).toContain(`${Object.keys(dependencies).length} direct dependencies at run time`);
});

test('Every query can be planned by PostgreSQL', async () => {
  const queries = fencedBlocks(document).filter(({ language }) => language === 'sql');
  expect(queries.length).toBeGreaterThan(0);
  const owner = new pg.Client({ connectionString: await cloneTemplate(inject('postgresUrl')) });
  await owner.connect();
  for (const { text } of queries) await owner.query(`explain ${text}`);
  await owner.end();
});

test('OWASP API Security Top 10 has its ten rows', () => {
  const risks = tableRows(owaspTop10()).map(([risk = '']) => /^API(\d+) /.exec(risk)?.[1]);
  expect(risks.filter(Boolean)).toEqual(Array.from({ length: 10 }, (_, i) => String(i + 1)));
});

test('The counts of ASVS match its rows, and no requirement is listed twice', () => {
  const [, asvs = ''] = prose.split(/^## OWASP ASVS.*$/m, 2);
  const judged = tableRows(asvs).flatMap(([ids = '', verdict = '', why = '']) =>
    /^\d/.test(ids) ? ids.split(', ').flatMap((range) => idsOf(range).map((id) => ({ id, verdict, why }))) : [],
  );
  const count = (verdict: string) => judged.filter((one) => one.verdict === verdict).length;
  expect(new Set(judged.map(({ id }) => id)).size).toBe(judged.length);
  expect(judged.filter(({ why }) => why === '')).toEqual([]);
  expect(asvs).toContain(`the ${judged.length} requirements of levels 1 and 2`);
  expect(asvs).toContain(`${count('met')} met, ${count('not applicable')} not applicable, ${count('not met')} not met.`);
  expect(count('met') + count('not applicable') + count('not met')).toBe(judged.length);
});

/** Relative to the folder that the document names, or to the root. */
function find(name: string): string | undefined {
  const below = name.endsWith('.test.ts') ? 'service/test' : 'service/src';
  return [below, '.', 'docs'].map((folder) => path.join(root, folder, name)).find((file) => existsSync(file));
}

function tableRows(text: string): string[][] {
  return [...text.matchAll(/^\| (.+) \|$/gm)].map(([, row = '']) => row.split(' | '));
}

function owaspTop10(): string {
  return /^## OWASP API .*?(?=^## )/ms.exec(prose)?.[0] ?? '';
}

/** Expands a range: `1.2.1–1.2.3` is three ids. */
function idsOf(range: string): string[] {
  const [first = '', last = first] = range.split('–');
  const section = first.slice(0, first.lastIndexOf('.') + 1);
  const [from, to] = [first, last].map((id) => Number(id.slice(id.lastIndexOf('.') + 1))) as [number, number];
  return Array.from({ length: to - from + 1 }, (_, i) => section + (from + i));
}
