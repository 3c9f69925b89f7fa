import { statSync } from 'node:fs';

/** When a file or folder was last changed; 0 if it does not exist. */
export const changedAtMs = (file: string): number => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
