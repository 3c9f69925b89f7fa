import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

interface Placement {
  readonly what: string;
  readonly pattern: RegExp;
  /** The files that may contain it, relative to service/src. */
  readonly home: RegExp;
}

// All lower or all upper case, as SQL is written: prose may begin with "Select".
const statement =
  /['"`]\s*(select|SELECT|(insert|INSERT)\s+(into|INTO)|(update|UPDATE)\s+\S+\s+(set|SET)|(delete|DELETE)\s+(from|FROM)|(with|WITH)\s+\w+\s+(as|AS))\s/;

const homeOfSql = /(^platform\/db\/|-queries\.ts$)/;

const placements: readonly Placement[] = [
  { what: 'SQL', pattern: statement, home: homeOfSql },
  { what: 'process.env', pattern: /\bprocess\.env\b|\benv\b.*from 'node:process'/, home: /^main\.ts$/ },
  // That file escapes what it prints, so that it is safe for a terminal.
  { what: 'console', pattern: /\bconsole\.\w+\(/, home: /^cli\/terminal\/output\.ts$/ },
];

/** Where binary files are: the fonts, pictures and icons that pages show. */
const binaryHomes: readonly RegExp[] = [
  /^docs-site\/assets\/[^/]+\.(webp|ico)$/,
  /^docs\/(figures|guides\/assets)\/[^/]+\.webp$/,
  /^(docs-site\/assets|examples\/adoption-site\/public)\/fonts\/[^/]+\.woff2$/,
];

const exported = /^export (?:async )?(?:function|const|class|interface|type) (\w+)/gm;

/** A reader sees so much without scrolling sideways. The formatter breaks lines before, but for what it can't break. */
const columnsMax = 160;
/** What a longer line, which is a text, may have beside the words of the text. */
const codeColumnsMax = 80;
const element = /<\/?[a-z]/;
const linkInComment = /^\s*(\/\/|\/?\*+)\s*\S*https?:\S+$/;

/** Lines of the service with code that belongs in another file. */
export function findMisplaced(folder: string): string[] {
  const files = sourcesIn(folder);
  return placements.flatMap(({ what, pattern, home }) => {
    const found = files.flatMap((file) => linesWith(pattern, path.join(folder, file)).map((line) => ({ file, line })));
    // If the pattern doesn't match even in its own files, it no longer detects anything.
    if (!found.some(({ file }) => home.test(file))) return [`no ${what} found where it belongs: is the pattern still right?`];
    return found.filter(({ file }) => !home.test(file)).map(({ file, line }) => `${folder}/${file}:${line}: ${what} belongs in ${home}`);
  });
}

/** Lines of the service that are too long, but for SQL: one is a text, without elements of HTML, or is broken into parts with names. */
export function findLongLines(folder: string): string[] {
  return sourcesIn(folder).flatMap((file) => {
    if (homeOfSql.test(file)) return [];
    const source = readFileSync(path.join(folder, file), 'utf8');
    const long = source.split('\n').flatMap((line, i) => (line.length > columnsMax && !linkInComment.test(line) ? { line, i } : []));
    if (long.length === 0) return [];
    const words = wordColumns(file, source);
    return long
      .filter(({ line, i }) => line.length - (words.get(i) ?? 0) > codeColumnsMax)
      .map(({ line, i }) => `${folder}/${file}:${i + 1}: ${line.length} columns; break it into parts with names (${columnsMax} at most)`);
  });
}

/** How many columns of a line are the words of its longest text: of a string, or of a template that has no tag. */
function wordColumns(file: string, source: string): Map<number, number> {
  const columns = new Map<number, number>();
  const parsed = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true);
  const lineOf = (position: number) => parsed.getLineAndCharacterOfPosition(position).line;
  const visit = (node: ts.Node): void => {
    ts.forEachChild(node, visit);
    const line = lineOf(node.getStart(parsed));
    const length = textOf(node).length;
    if (line === lineOf(node.end)) columns.set(line, Math.max(columns.get(line) ?? 0, length));
  };
  visit(parsed);
  return columns;
}

function textOf(node: ts.Node): string {
  // The root has no parent.
  if (node.parent && ts.isTaggedTemplateExpression(node.parent)) return '';
  const pieces = ts.isTemplateExpression(node) ? [node.head, ...node.templateSpans.map(({ literal }) => literal)] : [];
  const text = ts.isStringLiteralLike(node) ? node.text : pieces.map((piece) => piece.text).join('');
  return element.test(text) ? '' : text;
}

/** Binary files that are tracked elsewhere: in a change nobody can read them, and the history has them forever. */
export function findStrayBinaries(root: string): string[] {
  const listed = execFileSync('git', ['ls-files', '--eol', '-z'], { cwd: root, encoding: 'utf8' }).split('\0');
  const binaries = listed.filter((line) => line.startsWith('i/-text')).map((line) => line.slice(line.indexOf('\t') + 1));
  const unused = binaryHomes.filter((home) => !binaries.some((file) => home.test(file)));
  if (unused.length > 0) return unused.map((home) => `no binary file found in ${home}: is the pattern still right?`);
  return binaries
    .filter((file) => !binaryHomes.some((home) => home.test(file)))
    .map((file) => `${file}: a binary file is tracked by git. Remove it and add its folder to .gitignore, or add its place to binaryHomes`);
}

/** Names that are exported twice: one name means one thing, also to who searches for it. */
export function findDoubledNames(folder: string): string[] {
  const places = new Map<string, string[]>();
  for (const file of sourcesIn(folder))
    for (const [, name = ''] of readFileSync(path.join(folder, file), 'utf8').matchAll(exported))
      places.set(name, [...(places.get(name) ?? []), `${folder}/${file}`]);
  if (places.size === 0) return ['no exported name found: is the pattern still right?'];
  return [...places]
    .filter(([, files]) => files.length > 1)
    .map(([name, files]) => `${files.join(', ')}: each exports ${name}; give each its own name`);
}

const sourcesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));

function linesWith(pattern: RegExp, file: string): number[] {
  const text = readFileSync(file, 'utf8');
  return [...text.matchAll(new RegExp(pattern, 'g'))].map(({ index }) => text.slice(0, index).split('\n').length);
}
