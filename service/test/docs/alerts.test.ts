import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { dashboardFile, renderDashboard, rows } from '../../../tools/dashboard.ts';
import { metricTable } from '../../src/operations/telemetry/metric-table.ts';
import { operations } from './operations-pages.ts';

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly runbook: string };
}

const { groups } = parse(readFileSync('deploy/prometheus/alerts.yml', 'utf8')) as { groups: ReadonlyArray<{ rules: readonly Rule[] }> };
const rules = groups.flatMap((group) => group.rules);
const runbooks = readFileSync('docs/operations/runbooks.md', 'utf8');

const partsOfRunbook = ['You see', 'It means', 'Do', 'Over when', 'Wake'];
/** Those that must show what to type: a query or a command. */
const partsWithCode = new Set(['It means', 'Do']);

/** The names of metrics in an expression. */
const metricsOf = (expression: string) => [...expression.matchAll(/\b(?:homeward|process)_\w+/g)].map(([name]) => name);
const known = (name: string) => name.replace(/_(bucket|sum|count)$/, '') in metricTable || name in metricTable;

describe.each(rules)('The alert $alert', ({ alert, expr, labels, annotations }) => {
  test('has a runbook: what you see, what it means, what to do, when it is over, and whom to wake', () => {
    expect(annotations.runbook).toBe(`{{ or $externalLabels.runbooks "docs/operations/runbooks.md" }}#${alert.toLowerCase()}`);
    const [, runbook = ''] = runbooks.split(`\n### ${alert}\n`);
    const lines = (runbook.split('\n#', 1)[0] ?? '').trim().split('\n');
    const parts = lines.map((line) => /^- \*\*(.+?)\*\*: (.+)$/.exec(line)?.slice(1) ?? [line, '']);
    expect(parts.map(([name]) => name)).toEqual(partsOfRunbook);
    expect(parts.filter(([name = '', text = '']) => partsWithCode.has(name) && !/`[^`]+`/.test(text))).toEqual([]);
  });

  test('is the only one of its name', () => {
    expect(rules.filter((rule) => rule.alert === alert)).toHaveLength(1);
  });

  test('is of metrics that exist, and says how urgent it is', () => {
    expect(metricsOf(expr).filter((name) => !known(name))).toEqual([]);
    expect(['page', 'ticket']).toContain(labels.severity);
  });
});

test('docs/operations has no runbook of an alert that does not exist, and names metrics that exist', () => {
  const sections = [...runbooks.matchAll(/^### (Homeward\w+)$/gm)].map(([, name]) => name);
  expect(sections.sort()).toEqual(rules.map(({ alert }) => alert).sort());
  const codes = [...operations.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);
  const named = codes.flatMap((code) => [...code.matchAll(/\bhomeward_(?!app\b|api\b|owner\b)\w+/g)].map(([name]) => name));
  expect(named.filter((name) => !known(name))).toEqual([]);
});

test('docs/operations/processes.md has every job that the alert HomewardJobFailing may name', () => {
  const source = readFileSync('service/src/worker.ts', 'utf8');
  const jobs = [...source.matchAll(/^(?!import ).*?'([a-z]+(?:-[a-z]+)+)'/gm)].map(([, name = '']) => name);
  expect(jobs.length).toBeGreaterThan(30);
  expect(jobs.filter((job) => !operations.includes(`\`${job}\``))).toEqual([]);
});

describe('The dashboard', () => {
  test("is up to date: 'npm run dashboard' writes it", () => {
    expect(readFileSync(dashboardFile, 'utf8')).toBe(renderDashboard());
  });

  test('has four rows, of panels that fit the width, with ids of their own', () => {
    const { panels } = JSON.parse(renderDashboard()) as {
      panels: Array<{ id: number; type: string; gridPos: { x: number; y: number; w: number; h: number } }>;
    };
    expect(panels.filter(({ type }) => type === 'row')).toHaveLength(4);
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    expect(panels.every(({ gridPos: { x, w } }) => Number.isInteger(w) && x + w <= 24)).toBe(true);
  });

  test('is of metrics that exist', () => {
    const expressions = rows.flatMap(({ panels }) => panels.flatMap(({ queries }) => queries.map(({ expr }) => expr)));
    expect(expressions.flatMap(metricsOf).filter((name) => !known(name))).toEqual([]);
  });
});
