// A worker that was suspended until its lease expired continues without knowing it. So every statement by which a worker with a lease
// writes has a fence: the number of the lease, which must still be that of what it changes. The statements are found in the sources: a
// job of the worker has a lease if it reaches a statement that takes one.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const source = fileURLToPath(new URL('../../src', import.meta.url));
const read = (file: string) => readFileSync(path.join(source, file), 'utf8');

const writes =
  /\b(insert into|delete from|update (\w+|\$\{table\})( as)?( \w+)?\s+set|for (no key )?update|for (key )?share|nextval|setval|claiming)\b/;
const takesLease =
  /\$\{claiming\(|= now\(\) \+ make_interval\(secs => \$\d\)|values \(now\(\) \+ make_interval|select hash, now\(\) \+ make_interval/;
const fence = /\$\{(inOwnShard|isOwn\(.*?\)|isClaimed)\}|\bworker_id = \$1\b|\buntil = \$2::timestamptz|\bclaims = \$1/;

/** Statements without a fence, and why they do no harm. */
const exceptions: Readonly<Record<string, string>> = {
  'insert-webhook-worker': 'takes the lease',
  'extend-webhook-lease': 'changes the lease itself, by its id and end',
  'delete-webhook-worker': 'ends the lease itself',
  'delete-expired-webhook-workers': 'deletes what has ended, of any worker',
  'insert-webhook-attempts': 'says what was sent, which is so whoever has the shard',
  'claim-photo': 'takes the claim',
  'lock-stored-photo-bytes': 'locks, after lock-claimed-photo in the same transaction',
  'lock-pets': 'locks the animal until the commit',
  'insert-events': 'comes after photo-is-ready in the same transaction, if that had the claim',
  'photo-mark-is-written': 'says that a file is there, which is so whoever has written it',
  'claim-photo-deletion': 'takes the claim',
  'delete-ended-photo-deletions': 'deletes what has ended, of any worker',
  'claim-*': 'takes the claim',
  'claim-photo-scan': 'takes the claim',
  'claim-mail': 'takes the claim',
  'insert-person-link': 'makes the link of a message: one that is sent twice has two, and the first that is used ends both',
  'begin-adopter-link': 'lets the link of a message begin: one that is sent twice has the same, which is used once',
  'give-back-photo-bytes': 'deletes rows whose files are gone, whoever has deleted them, and subtracts the bytes of those that it deletes',
};

test('the jobs of the worker that have a lease are known', () => {
  expect(leasedJobs(read).map(({ name }) => name)).toEqual(['openMailSenders', 'processPhoto', 'scanFiles', 'deleteRemoved', 'Deliverer']);
});

test('every statement by which they write has a fence, or a reason to have none', () => {
  const statements = leasedStatements(read);
  const unfenced = statements.filter(({ text }) => !fence.test(text)).map(({ name }) => name);
  expect(statements.length).toBeGreaterThan(30);
  expect(unfenced.toSorted()).toEqual(Object.keys(exceptions).toSorted());
});

test.each([
  ['mark-webhooks-read', 'changes/delivery/endpoint-queries.ts'],
  ['insert-failed-deliveries', 'changes/delivery/result-queries.ts'],
  ['photo-has-failed', 'animals/photos/processing-queries.ts'],
  ['end-mail', 'changes/mail/claim-queries.ts'],
  ['extend-claim-on-*', 'platform/db/claims.ts'],
])('one that loses its fence is found: %s', (name, file) => {
  const at = read(file).indexOf(name.replace('*', ''));
  const planted = leasedStatements((one) => (one === file ? read(file).slice(0, at) + read(file).slice(at).replace(fence, '') : read(one)));
  expect(planted.filter(({ text }) => !fence.test(text)).map((statement) => statement.name)).toContain(name);
});

type Read = typeof read;
interface Statement {
  readonly name: string;
  readonly text: string;
}

function leasedStatements(readSource: Read): Statement[] {
  const found = new Map(leasedJobs(readSource).flatMap(({ statements }) => statements.map((one) => [one.name, one] as const)));
  return [...found.values()];
}

function leasedJobs(readSource: Read): Array<{ name: string; statements: Statement[] }> {
  const modules = new Modules(readSource);
  const jobs = [...modules.get('worker.ts').imports].map(([name, from]) => ({
    name,
    statements: writesOf(modules.reachedFrom(from)),
  }));
  return jobs.filter(({ statements }) => statements.some(({ text }) => takesLease.test(text)));
}

/** The statements in these declarations that write. Each is the text from its call or name to the next. */
function writesOf(declarations: readonly string[]): Statement[] {
  return declarations
    .flatMap((text) => text.split(/\.(?:query|write|writeListing|writePets)\b|(?=\bname: ['`])/).slice(1))
    .map((text) => ({ name: (/name: ['`]([^'`]+)['`]/.exec(text)?.[1] ?? text).replace(/\$\{\w+\}/, '*'), text }))
    .filter(({ text }) => writes.test(text));
}

interface Declared {
  readonly file: string;
  readonly name: string;
}
interface Module {
  /** The text of each declaration at the top level. */
  readonly declarations: ReadonlyMap<string, string>;
  /** What is imported as a value, by its name here. */
  readonly imports: ReadonlyMap<string, Declared>;
}

class Modules {
  readonly #read: Read;
  readonly #known = new Map<string, Module>();

  constructor(readSource: Read) {
    this.#read = readSource;
  }

  get(file: string): Module {
    const known = this.#known.get(file) ?? parse(file, this.#read(file));
    this.#known.set(file, known);
    return known;
  }

  /** The texts of a declaration and of all that it names, directly or not. */
  reachedFrom({ file, name }: Declared, seen = new Set<string>()): string[] {
    const { declarations, imports } = this.get(file);
    const text = declarations.get(name);
    const exported = imports.get(name);
    if (text === undefined && exported) return this.reachedFrom(exported, seen);
    if (text === undefined || seen.has(`${file} ${name}`)) return [];
    seen.add(`${file} ${name}`);
    const named = new Set(text.match(/\b[A-Za-z_]\w*/g));
    const next = [...named].map((word) => imports.get(word) ?? { file, name: word });
    return [text, ...next.flatMap((declared) => this.reachedFrom(declared, seen))];
  }
}

function parse(file: string, code: string): Module {
  const declaration = /^(?:export )?(?:async )?(?:function\*?|class|const|let) (\w+)/gm;
  const starts = [...code.matchAll(declaration)].map(({ index, 1: name = '' }) => ({ index, name }));
  const imports = [...code.matchAll(/^(?:import|export) \{([^}]*)\} from '(\.[^']+)'/gm)].flatMap(([, names = '', from = '']) =>
    names.split(',').flatMap((item) => {
      const [, name, alias = name] = /^\s*(\w+)(?: as (\w+))?\s*$/.exec(item) ?? [];
      return name === undefined ? [] : [[alias as string, { file: path.posix.join(path.posix.dirname(file), from), name }] as const];
    }),
  );
  return {
    declarations: new Map(starts.map(({ index, name }, i) => [name, code.slice(index, starts[i + 1]?.index)])),
    imports: new Map(imports),
  };
}
