// Words that make a reader stop, and the terms of the field to write instead: npm run check -- --only words
import { globSync, readFileSync } from 'node:fs';

interface Coinage {
  readonly pattern: RegExp;
  readonly write: string;
  /** Where the word is a term of the field: a line, or its file, that has this. */
  readonly unless?: RegExp;
}

const coinages: readonly Coinage[] = [
  { pattern: /\bremember\w*/i, write: 'cached, cache' },
  { pattern: /\brenew\w*/i, write: 'invalidate, replace' },
  { pattern: /\b(short|long) way\b/i, write: 'fast path, fall through' },
  { pattern: /\blanes?\b/i, write: 'pipelined connection' },
  // People answer questions. A server responds.
  {
    pattern: /\banswer\w*/i,
    write: 'response, respond, return',
    unless: /question|applica|adopter|console\/adoptions|adoption-cast|erasureExtents|bench\/capacity|apply-page/i,
  },
  { pattern: /\brefus(al|als|e|ed|es|ing)\b/i, write: 'error, reject' },
  { pattern: /\bvouch\w*|\bbeliev\w+/i, write: 'trust, valid' },
  { pattern: /\bstands? in\b|\bis to be (had|found)\b/i, write: 'is in, see, available' },
  { pattern: /\banew\b/i, write: 'again' },
  { pattern: /\bwhoever\b/i, write: 'anyone who' },
  { pattern: /\bpatience\w*/i, write: 'total timeout' },
  { pattern: /\bsight\b/i, write: 'visibility' },
  { pattern: /\bwish(es)?\b/i, write: 'input', unless: /-texts\.ts/ },
];

/** What documents and messages may say all the same: names on the wire, in SQL and in logs, and other programs' terms. */
const exceptions: readonly RegExp[] = [
  /idempotent[_-]answers?/g,
  /\banswer: (Type|attempt|string|null)/g,
  /\banswers: (erased|stored|responses)/g,
  /"answers":null|\banswers, created_at\b/g,
  // The fields of a form for an adopter's answers.
  /\banswer_\w+/g,
  // The column, and the field of an attempt.
  /\bstatus, answer, error\b|`answer`/g,
  /\brefuses? to start\b/g,
  /webhook_url_refused/g,
];

const sources = [
  '{service,docs-site}/src/**/*.{ts,lua}',
  'sdk/src/*.ts',
  'sdk/README.md',
  '*.md',
  'docs/**/*.md',
  'examples/**/*.{ts,md}',
  '{proofs,testkit,tools,bench}/**/*.ts',
];
/** This file names what it looks for. */
const exempt = ['**/node_modules/**', 'sdk/src/api-types.gen.ts', 'tools/words.ts', 'CHANGELOG.md'];

const filesMin = 300;

/** The lines that use a coined word. */
export function findCoinages(): string[] {
  const files = globSync(sources, { exclude: exempt });
  if (files.length < filesMin) return [`only ${files.length} files were read: are the patterns still right?`];
  return files.flatMap((file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .flatMap((line, index) => {
        const text = exceptions.reduce((rest, exception) => rest.replace(exception, ''), line);
        return coinages.flatMap(({ pattern, write, unless }) => {
          const [found] = pattern.exec(text) ?? [];
          return found && !unless?.test(`${file} ${line}`) ? [`${file}:${index + 1}: "${found}": write ${write}`] : [];
        });
      }),
  );
}
