interface Runtime {
  readonly Deno?: { readonly env?: { get(name: string): string | undefined } };
  readonly process?: { readonly env?: Readonly<Record<string, string | undefined>> };
}

/** A variable of the environment. Undefined if it is not set, if the program may not read it, and in a browser, which has none. */
export function readVariable(name: string): string | undefined {
  // Not `process.env.NAME`: a bundler could replace that by the value, and so put a key into a page.
  const { Deno: deno, process: node } = globalThis as Runtime;
  try {
    return deno?.env ? deno.env.get(name) : node?.env?.[name];
  } catch {
    // Deno without --allow-env.
    return undefined;
  }
}

/** Whether strangers can read the program, as they can in a page. */
export const isInBrowser = (): boolean => 'window' in globalThis && 'document' in globalThis;
