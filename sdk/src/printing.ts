/** The method that console.log calls in Node.js, Deno and Bun. */
export const inspectSymbol: unique symbol = Symbol.for('nodejs.util.inspect.custom');

type Inspect = (value: unknown, options: object) => string;

/** Makes console.log show `fields` in place of the methods of `target`, which say nothing. */
export function printedAs<T extends object>(target: T, name: string, fields: () => object): T {
  const print = (_depth: number, options: object, inspect: Inspect) => `${name} ${inspect(fields(), options)}`;
  return Object.defineProperty(target, inspectSymbol, { value: print });
}
