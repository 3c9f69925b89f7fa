// Every `homeward …` in the documents for operators is an existing command with valid arguments and options.
import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { buildProgram } from '../../src/cli/program.ts';
import { fencedBlocks, withoutBlocks } from './fenced-blocks.ts';
import { operations } from './operations-pages.ts';

const read = (file: string) => readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8');
const program = await buildProgram({});

const documents: Readonly<Record<string, string>> = {
  ...Object.fromEntries(['README.md', 'docs/deploy.md', 'docs/backup.md', 'docs/security.md'].map((file) => [file, read(file)])),
  'docs/operations': operations,
};

describe.each(Object.entries(documents))('%s', (_, markdown) => {
  const shell = fencedBlocks(markdown).filter(({ language }) => ['', 'sh'].includes(language));
  const blocks = shell.flatMap(({ text }) => text.split('\n'));
  const inline = [...withoutBlocks(markdown).matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);

  test('shows commands that can be copied', () => {
    const lines = commandsIn(blocks);
    expect(lines.length).toBeGreaterThan(3);
    expect(lines.map((line) => faultOf(line, 'whole')).filter(Boolean)).toEqual([]);
  });

  test('names commands that exist', () => {
    const lines = commandsIn(inline);
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.map((line) => faultOf(line, 'named')).filter(Boolean)).toEqual([]);
  });
});

test.each([
  ['keys invent', 'keys invent: there is no command "invent"'],
  ['keys', 'keys: a command is missing'],
  ['keys revoke 12 --all', 'keys revoke 12 --all: there is no option --all'],
  ['keys revoke 12 13', 'keys revoke 12 13: there are 2 arguments, not 1'],
  ['keys revoke', 'keys revoke: there are 0 arguments, not 1'],
  ['keys create --plan free', 'keys create --plan free: --client is missing'],
])('the mistake in "%s" is detected', (line, fault) => {
  expect(faultOf(line, 'whole')).toBe(fault);
});

/** The text after `homeward`, up to a comment after two blanks, a pipe or a redirection. */
function commandsIn(lines: readonly string[]): string[] {
  return lines.flatMap((line) => /(?:^|\s)homeward ((?:(?! {2})[^|>;])+)/.exec(line)?.[1]?.trim() ?? []);
}

/** `named`: arguments and options may be omitted. */
function faultOf(line: string, as: 'whole' | 'named'): string | undefined {
  const words = line.match(/'[^']*'|\S+/g) ?? [];
  const { command, depth } = find(words);
  const rest = words.slice(depth);
  const [first] = rest;
  const fault = (what: string) => `${line}: ${what}`;
  if (first === '--help' || first === '--version') return undefined;
  if (command.commands.length > 0) {
    if (first !== undefined) return fault(`there is no command "${first}"`);
    return as === 'named' ? undefined : fault('a command is missing');
  }
  const given = new Set<string>();
  let count = 0;
  for (let i = 0; i < rest.length; i += 1) {
    const word = rest[i] ?? '';
    if (!word.startsWith('--')) {
      count += 1;
      continue;
    }
    const option = command.options.find(({ long }) => long === word);
    if (!option) return fault(`there is no option ${word}`);
    given.add(word);
    if (option.required) i += 1;
  }
  const taken = command.registeredArguments;
  const min = as === 'named' ? 0 : taken.filter(({ required }) => required).length;
  const max = taken.at(-1)?.variadic ? Number.POSITIVE_INFINITY : taken.length;
  if (count < min || count > max) return fault(`there are ${count} arguments, not ${taken.length}`);
  const missing = command.options.find(({ mandatory, long }) => mandatory && !given.has(long ?? ''));
  return missing && as === 'whole' ? fault(`${missing.long} is missing`) : undefined;
}

function find(words: readonly string[]): { command: Command; depth: number } {
  let command: Command = program;
  let depth = 0;
  for (const word of words) {
    const next = command.commands.find((one) => one.name() === word);
    if (!next) break;
    command = next;
    depth += 1;
  }
  return { command, depth };
}
