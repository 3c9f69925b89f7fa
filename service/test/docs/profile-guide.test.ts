// The guide to profiles: its tables have every field, value and bound of the program.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { ProfileSchema } from '../../src/animals/profiles/profile-schemas.ts';
import { ageBandEndYears, ageBands, coats, companions, sexes, sizes } from '../../src/domain/profile-fields.ts';
import { errorCodes } from '../../src/platform/errors.ts';
import { fillFigures } from './source-figures.ts';

const guide = readFileSync(new URL('../../../docs/guides/profiles.md', import.meta.url), 'utf8');
const code = (text: string) => `\`${text}\``;
const listed = (values: readonly string[]) => `${values.slice(0, -1).map(code).join(', ')} or ${code(values.at(-1) ?? '')}`;

/** The cells of the Markdown table that has this header. */
function tableUnder(header: string): string[][] {
  const [, rest = ''] = guide.split(`${header}\n`);
  const [table = ''] = rest.split('\n\n');
  return table
    .split('\n')
    .slice(1)
    .map((line) => line.slice(2, -2).split(' | '));
}

describe('docs/guides/profiles.md', () => {
  const rows = tableUnder('| Field | What it is |');
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

  test('has the right status for each error code', () => {
    const errors = tableUnder('| Status | Code | What it means | What to do |').map(([status, name]) => [name, status]);
    const statuses = Object.fromEntries(Object.entries(errorCodes).map(([name, { status }]) => [code(name), String(status)]));
    expect(errors).toEqual(errors.map(([name = '']) => [name, statuses[name]]));
    expect(errors.length).toBeGreaterThan(4);
  });
});
