import { cpSync, globSync, mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** Copies the logs of the nodes, and those and the history of a round, or of all rounds, to a folder that survives the run. Returns it. */
export function keepFiles(folder: string, name: string, round = 'round-*'): string {
  const kept = mkdtempSync(path.join(tmpdir(), `homeward-history-${name}-`));
  for (const file of globSync([`{node*,${round}}/*.log`, `${round}/history.jsonl`], { cwd: folder })) {
    mkdirSync(path.join(kept, path.dirname(file)), { recursive: true });
    cpSync(path.join(folder, file), path.join(kept, file));
  }
  return kept;
}
