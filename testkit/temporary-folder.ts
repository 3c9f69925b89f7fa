import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** It is removed, with all that is in it, at the end of its `using` block. */
export function temporaryFolder(name: string): Disposable & { readonly path: string } {
  const folder = mkdtempSync(path.join(tmpdir(), `homeward-${name}-`));
  return { path: folder, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
}
