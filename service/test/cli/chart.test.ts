import { describe, expect, test } from 'vitest';
import { chart, sparkline } from '../../src/cli/access/usage-chart.ts';

const plain = { paint: (_: string, text: string) => text };
const marked = { paint: (style: string, text: string) => (style === 'yellow' ? `<${text}>` : text) };
const options = { limit: 60, height: 3, ends: ['1h ago', 'now'] } as const;

describe('A sparkline', () => {
  test('has one character for each value, scaled to the highest', () => {
    expect(sparkline([0, 1, 4, 8])).toBe('·▁▄█');
  });

  test('shows the smallest value above 0', () => {
    expect(sparkline([1, 1_000_000])).toBe('▁█');
    expect(sparkline([0, 0])).toBe('··');
  });
});

describe('A chart', () => {
  test('has the limit as a line at the top if no value exceeds it', () => {
    expect(chart([0, 20, 40, 60, 1, 0, 0, 0, 0, 0], options, plain)).toEqual([
      '60 ┄┄┄█┄┄┄┄┄┄ limit',
      '     ██',
      '    ███▁',
      '   1h ago now',
    ]);
  });

  test('has the limit as a line across the columns that exceed it', () => {
    expect(chart([0, 180, 60], options, plain)).toEqual(['180  █', '     █', ' 60 ┄██ limit', '    1h ago now']);
  });

  test('colours the line and not the columns', () => {
    expect(chart([0, 60, 0], { ...options, height: 1 }, marked)[0]).toBe('60 <┄>█<┄> <limit>');
  });
});
