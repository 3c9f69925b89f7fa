// The SQL statements of a program: their texts, and the rows that it expects of them.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { textsOf } from './sql-texts.ts';

export interface Statement {
  /** Its file and line. */
  readonly at: string;
  /** Its own, or else that of the function that it is in. */
  readonly name: string;
  /** Those that it may have. Undefined: they depend on what is known only when the program runs. */
  readonly texts: readonly string[] | undefined;
  /** Undefined: its rows have no type. */
  readonly row: Row | undefined;
}

/** What the values of each column may be, such as 'string' and 'null'; 'undefined': the column may be missing. */
export type Row = ReadonlyMap<string, ReadonlySet<string>>;

/** They get a statement, and their type parameter is its row. */
const runners = ['query', 'write', 'writePets', 'writeListing', 'queryTexts'];
/** The rows of these have a further column. */
const announcers = ['writePets', 'writeListing'];
const announced = ['transactionId', new Set(['string'])] as const;
/** Their template is a statement, and each value in it a parameter. */
const tags = ['rowsOf', 'rowOf'];
const anyOfThem = new RegExp(`\\b(${[...runners, ...tags].join('|')})\\b`);

export async function findStatements(files: readonly string[], tsconfig: string): Promise<Statement[]> {
  const { config } = ts.readConfigFile(tsconfig, ts.sys.readFile);
  const root = path.dirname(tsconfig);
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, root);
  const chosen = files.filter((file) => anyOfThem.test(readFileSync(file, 'utf8')));
  const program = ts.createProgram(chosen, options);
  const checker = program.getTypeChecker();
  const found: Statement[] = [];
  for (const file of chosen) {
    const source = program.getSourceFile(file);
    if (!source) throw new Error(`${file} was not read`);
    const calls = callsIn(source, checker);
    const texts = await textsOf(
      source,
      calls.map(({ text }) => text),
      checker,
    );
    for (const [i, { node, name, row, isAnnounced }] of calls.entries()) {
      const declared = row && rowOf(checker.getTypeFromTypeNode(row), checker);
      found.push({
        at: `${path.relative(root, file)}:${source.getLineAndCharacterOfPosition(node.getStart()).line + 1}`,
        name: name ?? functionAround(node),
        texts: texts[i],
        row: declared && isAnnounced ? new Map([...declared, announced]) : declared,
      });
    }
  }
  return found;
}

interface Call {
  readonly node: ts.Node;
  readonly name: string | undefined;
  /** An expression of the text, or of an object with the text. */
  readonly text: ts.Expression | string;
  readonly row: ts.TypeNode | undefined;
  readonly isAnnounced: boolean;
}

function callsIn(node: ts.Node, checker: ts.TypeChecker): Call[] {
  const inner = childrenOf(node).flatMap((child) => callsIn(child, checker));
  if (ts.isTaggedTemplateExpression(node) && ts.isCallExpression(node.tag) && tags.includes(nameOf(node.tag))) {
    const row = node.tag.typeArguments?.[0];
    return [{ node, name: undefined, text: textOf(node.template), row, isAnnounced: false }, ...inner];
  }
  const statement = ts.isCallExpression(node) && runners.includes(nameOf(node)) ? statementOf(node, checker) : undefined;
  if (!statement || !ts.isCallExpression(node)) return inner;
  const name = propertyOf(statement, 'name');
  const call = {
    node,
    name: name && ts.isStringLiteral(name) ? name.text : undefined,
    text: propertyOf(statement, 'text') ?? statement,
    row: node.typeArguments?.[0],
    isAnnounced: announcers.includes(nameOf(node)),
  };
  return [call, ...inner];
}

/** Undefined: it gets none, as `write` of a stream, or one that the function around it gets, which is found where that is made. */
function statementOf(call: ts.CallExpression, checker: ts.TypeChecker): ts.Expression | undefined {
  const isStatement = (symbol: ts.Symbol) => /\bQueryConfig\b/.test(checker.typeToString(checker.getTypeOfSymbolAtLocation(symbol, call)));
  // Of any overload: to choose one takes long, and a function has its statement in one place.
  const signatures = checker.getTypeAtLocation(call.expression).getCallSignatures();
  const index = Math.max(...signatures.map(({ parameters }) => parameters.findIndex(isStatement)));
  const statement = call.arguments[index];
  const symbol = statement && checker.getSymbolAtLocation(statement);
  const isPassedOn = symbol?.valueDeclaration && ts.isParameter(symbol.valueDeclaration) && isStatement(symbol);
  return isPassedOn ? undefined : statement;
}

const nameOf = ({ expression }: ts.CallExpression) => (ts.isPropertyAccessExpression(expression) ? expression.name : expression).getText();

function propertyOf(statement: ts.Expression, name: string): ts.Expression | undefined {
  if (!ts.isObjectLiteralExpression(statement)) return undefined;
  const property = statement.properties.find((one) => one.name?.getText() === name);
  if (property && ts.isShorthandPropertyAssignment(property)) return property.name;
  return property && ts.isPropertyAssignment(property) ? property.initializer : undefined;
}

function textOf(template: ts.TemplateLiteral): string {
  if (ts.isNoSubstitutionTemplateLiteral(template)) return template.text;
  return template.templateSpans.reduce((text, { literal }, i) => `${text}$${i + 1}${literal.text}`, template.head.text);
}

function functionAround(node: ts.Node): string {
  const isNamed = (one: ts.Node) =>
    ts.isFunctionDeclaration(one) ||
    ts.isMethodDeclaration(one) ||
    (ts.isVariableDeclaration(one) && one.initializer !== undefined && ts.isArrowFunction(one.initializer));
  return (ts.findAncestor(node, isNamed) as ts.NamedDeclaration | undefined)?.name?.getText() ?? 'no function';
}

/** Undefined: the type is a parameter of the function. */
function rowOf(type: ts.Type, checker: ts.TypeChecker): Row | undefined {
  if (type.flags & ts.TypeFlags.TypeParameter) return undefined;
  const columns = new Map<string, ReadonlySet<string>>();
  for (const row of type.isUnion() ? type.types : [type]) {
    for (const property of row.getProperties()) {
      const kinds = kindsOf(checker.getTypeOfSymbol(property), checker);
      columns.set(property.name, new Set([...(columns.get(property.name) ?? []), ...kinds]));
    }
  }
  return columns;
}

function kindsOf(type: ts.Type, checker: ts.TypeChecker): string[] {
  if (type.isUnion()) return type.types.flatMap((one) => kindsOf(one, checker));
  // A type that has a brand.
  const primitive = type.isIntersection() ? type.types.find(({ flags }) => !(flags & ts.TypeFlags.Object)) : undefined;
  const kind = kindFlags.find(([, flags]) => (primitive ?? type).flags & flags);
  if (kind) return [kind[0]];
  if (!checker.isArrayLikeType(type)) return [type.symbol?.name ?? 'object'];
  const elements = checker.getTypeArguments(type as ts.TypeReference).flatMap((one) => kindsOf(one, checker));
  return [`${[...new Set(elements)].filter((one) => one !== 'null').join('|')}[]`];
}

const kindFlags = [
  ['any', ts.TypeFlags.Any | ts.TypeFlags.Unknown],
  ['string', ts.TypeFlags.StringLike],
  ['number', ts.TypeFlags.NumberLike],
  ['bigint', ts.TypeFlags.BigIntLike],
  ['boolean', ts.TypeFlags.BooleanLike],
  ['null', ts.TypeFlags.Null],
  ['undefined', ts.TypeFlags.Undefined],
] as const;

export function childrenOf(node: ts.Node): ts.Node[] {
  const children: ts.Node[] = [];
  node.forEachChild((child) => void children.push(child));
  return children;
}
