/** How a language writes values. */
export interface Syntax {
  readonly indent: string;
  /** Between a brace and what is in it, on one line. */
  readonly padding: string;
  /** After the last part, if each is on its own line. */
  readonly lastComma: ',' | '';
  readonly words: Readonly<Record<'true' | 'false' | 'null', string>>;
  text(value: string): string;
  name(value: string): string;
}

/** As wide as the column of samples on a page of the reference. */
export const widthMax = 56;

export const typescriptSyntax: Syntax = {
  indent: '  ',
  padding: ' ',
  lastComma: ',',
  words: { true: 'true', false: 'false', null: 'null' },
  text: (value) => `'${JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`,
  name: (value) => (/^[A-Za-z_]\w*$/.test(value) ? value : `'${value}'`),
};

export const pythonSyntax: Syntax = {
  indent: '    ',
  padding: '',
  lastComma: ',',
  words: { true: 'True', false: 'False', null: 'None' },
  text: (value) => JSON.stringify(value),
  name: (value) => JSON.stringify(value),
};

export const jsonSyntax: Syntax = {
  ...typescriptSyntax,
  padding: '',
  lastComma: '',
  text: (value) => JSON.stringify(value),
  name: (value) => JSON.stringify(value),
};

/** A JSON value as source code: on one line if it ends before `widthMax`, otherwise with a line for each part. */
export function literal(value: unknown, syntax: Syntax, { depth = 0, column = 0 } = {}): string {
  if (typeof value === 'string') return syntax.text(value);
  if (typeof value !== 'object' || value === null) return syntax.words[String(value) as 'null'] ?? String(value);
  const [open, close, padding] = Array.isArray(value) ? ['[', ']', ''] : ['{', '}', syntax.padding];
  const parts = Object.entries(value).map(([name, part]) => ({ prefix: Array.isArray(value) ? '' : `${syntax.name(name)}: `, part }));
  const inline = parts.map(({ prefix, part }) => prefix + literal(part, syntax)).join(', ');
  const line = parts.length === 0 ? open + close : `${open}${padding}${inline}${padding}${close}`;
  if (!line.includes('\n') && column + line.length <= widthMax) return line;
  const indent = syntax.indent.repeat(depth + 1);
  const lines = parts.map(
    ({ prefix, part }) => `${indent}${prefix}${literal(part, syntax, { depth: depth + 1, column: indent.length + prefix.length + 1 })}`,
  );
  return `${open}\n${lines.join(',\n')}${syntax.lastComma}\n${syntax.indent.repeat(depth)}${close}`;
}
