import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { commandsOfSection } from './page-commands.ts';
import { procedureNames, procedures } from './procedures.ts';

test('takes the commands of a section, also those in a list, and none of the sections below it', () => {
  const page =
    '# A\n\n## B\n```sh\none\n\n# a comment\ntwo\n```\n1. x\n\n   ```sh\n   three\n   ```\n\n### C\n```sh\nfour\n```\n## D\n```sh\nfive\n```\n';
  expect(commandsOfSection(page, '## B')).toEqual(['one', 'two', 'three']);
  expect(commandsOfSection(page, '### C')).toEqual(['four']);
});

test('throws on a block that would not be run, and on a missing heading', () => {
  expect(() => commandsOfSection('## B\n```\none\n```\n', '## B')).toThrow('write its commands as sh');
  expect(() => commandsOfSection('## B\n', '## C')).toThrow('there is no heading');
});

test.each(procedureNames)('the page of %s has commands', (name) => {
  const { file, heading } = procedures[name];
  const page = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
  expect(commandsOfSection(page, heading).length).toBeGreaterThan(5);
});
