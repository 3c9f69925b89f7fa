// What expressions of a module are when it runs: the module makes them itself, of its own constants and functions.
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import ts from 'typescript';

/** How many combinations of what a function may get are tried. */
const turns = 24;

type Expressions = ReadonlyArray<ts.Expression | string>;

/** The texts that each expression may be, or may have as `text`. Undefined: they are not known before the program runs. */
export async function textsOf(
  source: ts.SourceFile,
  expressions: Expressions,
  checker: ts.TypeChecker,
): Promise<Array<string[] | undefined>> {
  const moved = expressions.map((one) => (typeof one === 'string' ? undefined : moveOut(one, checker)));
  const added = `export const $made = [${moved.map((one) => one?.code ?? 'undefined').join(',\n')}];`;
  const { $made: functions } = (await importWith(source.fileName, added)) as { $made: ReadonlyArray<(...values: unknown[]) => unknown> };
  return expressions.map((expression, i) => {
    const [make, inputs] = [functions[i], moved[i]?.inputs];
    if (typeof expression === 'string') return [expression];
    return make && inputs && variantsOf(make, inputs, checker);
  });
}

function variantsOf(make: (...values: unknown[]) => unknown, inputs: readonly ts.Type[], checker: ts.TypeChecker): string[] | undefined {
  const texts = new Set<string>();
  try {
    for (let turn = 0; turn < turns; turn += 1) {
      const pick = pickerOf(turn);
      const made = make(...inputs.map((type) => sampleOf(type, checker, pick)));
      const text = typeof made === 'string' ? made : (made as { readonly text?: unknown }).text;
      if (typeof text !== 'string' || text === '') return undefined;
      texts.add(text);
    }
  } catch {
    return undefined;
  }
  return [...texts];
}

/**
 * An expression as a function at the end of its module. Constants of the functions around it are in its body; all else that it takes from
 * there is a parameter, of which only the type is known. What is pushed to a constant array on the way is not in it.
 */
function moveOut(expression: ts.Expression, checker: ts.TypeChecker): { code: string; inputs: ts.Type[] } | undefined {
  if (!isMovable(expression)) return undefined;
  const seen = new Set<ts.VariableDeclaration>();
  const constants: ts.VariableDeclaration[] = [];
  const inputs = new Map<string, ts.Type>();
  const take = (node: ts.Node, within: ts.Node): void => {
    const declaration = ts.isIdentifier(node) ? declarationOf(node, checker) : undefined;
    if (declaration && isLocal(declaration) && !isIn(within, declaration)) {
      const constant = constantOf(declaration);
      if (!constant) inputs.set(node.getText(), checker.getTypeAtLocation(declaration));
      else if (!seen.has(constant)) {
        seen.add(constant);
        take(constant, constant);
        constants.push(constant);
      }
    }
    node.forEachChild((child) => take(child, within));
  };
  take(expression, expression);
  const body = constants.map((constant) => `const ${constant.getText()};`).join(' ');
  return { code: `(${[...inputs.keys()].join(', ')}) => { ${body} return ${expression.getText()}; }`, inputs: [...inputs.values()] };
}

function declarationOf(name: ts.Identifier, checker: ts.TypeChecker): ts.Declaration | undefined {
  const isShorthand = ts.isShorthandPropertyAssignment(name.parent);
  return (isShorthand ? checker.getShorthandAssignmentValueSymbol(name.parent) : checker.getSymbolAtLocation(name))?.valueDeclaration;
}

const isLocal = (declaration: ts.Declaration) =>
  (ts.isVariableDeclaration(declaration) || ts.isParameter(declaration) || ts.isBindingElement(declaration)) &&
  ts.findAncestor(declaration, ts.isFunctionLike) !== undefined;

const isIn = (node: ts.Node, inner: ts.Node) => ts.findAncestor(inner, (one) => one === node) !== undefined;

/** What a name is from, if that is a constant whose value can be made elsewhere. */
function constantOf(declaration: ts.Declaration): ts.VariableDeclaration | undefined {
  const from = ts.findAncestor(declaration, (one) => (ts.isFunctionLike(one) ? 'quit' : ts.isVariableDeclaration(one)));
  if (!from || !ts.isVariableDeclaration(from) || !(ts.getCombinedNodeFlags(from) & ts.NodeFlags.Const)) return undefined;
  return from.initializer && isMovable(from.initializer) ? from : undefined;
}

const isMovable = (node: ts.Node): boolean =>
  !ts.isAwaitExpression(node) &&
  !ts.isPrivateIdentifier(node) &&
  node.kind !== ts.SyntaxKind.ThisKeyword &&
  !ts.forEachChild(node, (child) => !isMovable(child));

/** Which member of a union is taken. The turns are the combinations of the first unions; the further ones vary with them. */
function pickerOf(turn: number): (count: number) => number {
  let rest = turn;
  return (count) => {
    const index = rest % count;
    rest = Math.floor(rest / count) || turn;
    return index;
  };
}

const depthMax = 3;

/** A value of the type. */
function sampleOf(type: ts.Type, checker: ts.TypeChecker, pick: (count: number) => number, depth = 0): unknown {
  const sample = (inner: ts.Type) => sampleOf(inner, checker, pick, depth + 1);
  const { flags } = type;
  if (type.isUnion()) return sampleOf(type.types[pick(type.types.length)] as ts.Type, checker, pick, depth);
  if (type.isStringLiteral() || type.isNumberLiteral()) return type.value;
  if (flags & ts.TypeFlags.BooleanLiteral) return checker.typeToString(type) === 'true';
  if (flags & ts.TypeFlags.Null) return null;
  if (flags & ts.TypeFlags.Undefined) return undefined;
  if (flags & ts.TypeFlags.BigIntLike) return 1n;
  if (flags & ts.TypeFlags.NumberLike) return 1;
  if (!(flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection)) || depth > depthMax) return unknown;
  const [call] = type.getCallSignatures();
  if (call) return () => sample(call.getReturnType());
  if (type.symbol?.name === 'Date') return new Date(0);
  if (checker.isArrayLikeType(type)) return checker.getTypeArguments(type as ts.TypeReference).map(sample);
  return Object.fromEntries(type.getProperties().map((property) => [property.name, sample(checker.getTypeOfSymbol(property))]));
}

/** In place of a string: it may be a parameter of a statement, and throws if it becomes part of the text. */
const unknown = {
  toString() {
    throw new Error('the text is not known');
  },
};

const added = new Map<string, string>();
registerHooks({
  load(url, context, next) {
    const loaded = next(url, context);
    const end = added.get(url);
    return end === undefined ? loaded : { ...loaded, source: `${readFileSync(new URL(url), 'utf8')}\n${end}` };
  },
});

/** The exports of a module with this code at its end. */
async function importWith(file: string, code: string): Promise<unknown> {
  const url = `${pathToFileURL(file)}?made`;
  added.set(url, code);
  return import(url);
}
