// Comments and messages of the service, drawn by seed, to be read by someone who has not written them:
// node tools/node-runtime/run.mjs tools/draw-texts.ts [--seed N]
import { globSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { SeededRandom } from '../testkit/seeded-random.ts';

const commentCount = 40;
const messageCount = 20;

const { values } = parseArgs({ options: { seed: { type: 'string', default: '1' } } });
const random = new SeededRandom(Number(values.seed));
const files = globSync('service/src/**/*.ts').sort();

const comments = files.flatMap((file) =>
  find(file, /\/\*\*[\s\S]*?\*\/|(?:^ *\/\/.*\n)+/gm, (text) => text.replaceAll(/^\s*(\/\*\*|\*\/|\*|\/\/)|\*\/$/gm, ' ')),
);
// A message has several words, begins with a capital letter and ends like a sentence.
const messages = files.flatMap((file) => find(file, /(['`"])([A-Z][^\n]{20,}?[.:])\1/g, (_, __, text = '') => text));

print('Comments', comments, commentCount);
print('Messages', messages, messageCount);

function find(file: string, pattern: RegExp, textOf: (...groups: string[]) => string): string[] {
  const source = readFileSync(file, 'utf8');
  return [...source.matchAll(pattern)].map((match) => {
    const line = source.slice(0, match.index).split('\n').length;
    return `${file}:${line}: ${textOf(...match)
      .replaceAll(/\s+/g, ' ')
      .trim()}`;
  });
}

function print(what: string, texts: readonly string[], count: number): void {
  const left = [...texts];
  console.log(`${what}, ${count} of ${texts.length}`);
  for (let i = 0; i < count && left.length > 0; i += 1) console.log(`  ${left.splice(random.between(0, left.length - 1), 1)[0]}`);
}
