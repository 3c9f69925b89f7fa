// The commands of docs/deploy.md, by section.
import { readFileSync } from 'node:fs';
import { fencedBlocks } from '../../service/test/docs/fenced-blocks.ts';

const document = new URL('../../docs/deploy.md', import.meta.url);

/** The shell commands below a heading, up to the next one, in order. */
export function stepsOf(heading: string): string[] {
  const lines = readFileSync(document, 'utf8').split('\n');
  const from = lines.findIndex((line) => line.replace(/^#+ /, '') === heading && line.startsWith('#'));
  if (from === -1) throw new Error(`docs/deploy.md has no section "${heading}"`);
  const length = lines.slice(from + 1).findIndex((line) => /^#+ /.test(line));
  const section = lines.slice(from + 1, length === -1 ? undefined : from + 1 + length).join('\n');
  const steps = fencedBlocks(section).flatMap(({ language, text }) => (language === 'sh' ? [text] : []));
  if (steps.length === 0) throw new Error(`the section "${heading}" of docs/deploy.md has no commands`);
  return steps;
}
