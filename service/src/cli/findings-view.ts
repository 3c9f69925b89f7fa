import { counted, type Finding, type Severity, severities } from '../operations/doctor/finding.ts';
import { printable } from '../platform/characters.ts';
import { type Screen, type Style, wrapWords } from './table.ts';

const marks: Readonly<Record<Severity, { readonly mark: string; readonly style: Style }>> = {
  broken: { mark: '✗', style: 'red' },
  warning: { mark: '!', style: 'yellow' },
  note: { mark: 'i', style: 'cyan' },
  skipped: { mark: '-', style: 'dim' },
  ok: { mark: '✓', style: 'green' },
};

/** Narrower, and the text begins below its name. */
const textWidthMin = 40;

/** For a terminal: a mark and a name, the text beside it, and the fix below. */
export function findingLines(findings: readonly Finding[], { widthMax, paint }: Pick<Screen, 'widthMax' | 'paint'>): string[] {
  const nameWidth = Math.max(...findings.map(({ check }) => check.length));
  const isWide = widthMax - nameWidth - 4 >= textWidthMin;
  const indent = ' '.repeat(isWide ? nameWidth + 4 : 2);
  return findings.flatMap(({ check, severity, found, fix }) => {
    const { mark, style } = marks[severity];
    const isDim = severity === 'skipped' || severity === 'ok';
    const head = `${paint(style, mark)} ${isDim ? check.padEnd(nameWidth) : paint('bold', check.padEnd(nameWidth))}`;
    const lines = wrapWords(printable(found), widthMax - indent.length).map((line) => (severity === 'skipped' ? paint('dim', line) : line));
    const fixLines = fix ? wrapWords(printable(fix), widthMax - indent.length - 2).map((line, i) => `${i === 0 ? '→ ' : '  '}${line}`) : [];
    const [first = '', ...rest] = isWide ? lines : ['', ...lines];
    return [
      `${head}${first ? `  ${first}` : ''}`.trimEnd(),
      ...[...rest, ...fixLines.map((line) => paint('cyan', line))].map((line) => indent + line),
    ];
  });
}

/** For a file or a pipe: one line each. */
export function plainFindings(findings: readonly Finding[]): string[] {
  const [severityWidth, nameWidth] = [
    Math.max(...severities.map((name) => name.length)),
    Math.max(...findings.map(({ check }) => check.length)),
  ];
  return findings.map(({ check, severity, found, fix }) =>
    printable(`${severity.padEnd(severityWidth)}  ${check.padEnd(nameWidth)}  ${found}${fix ? ` Fix: ${fix}` : ''}`),
  );
}

/** 1 broken, 2 warnings, 18 ok. */
export function summary(findings: readonly Finding[]): string {
  const words: Readonly<Record<Severity, (count: number) => string>> = {
    broken: (count) => `${count} broken`,
    warning: (count) => counted(count, 'warning'),
    note: (count) => counted(count, 'note'),
    skipped: (count) => `${count} not checked`,
    ok: (count) => `${count} ok`,
  };
  const counts = severities.map((severity) => ({ severity, count: findings.filter((one) => one.severity === severity).length }));
  return counts.flatMap(({ severity, count }) => (count > 0 ? [words[severity](count)] : [])).join(', ');
}
