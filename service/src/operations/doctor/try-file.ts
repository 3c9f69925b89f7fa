import { randomUUID } from 'node:crypto';
import { open, rm } from 'node:fs/promises';
import path from 'node:path';

/** More than one block, so that room is needed for it. */
const triedBytes = 65_536;

/** Writes a file to a folder and deletes it. Root does not: it may write where the processes may not, and only its permissions count. */
export async function tryFile(folder: string): Promise<void> {
  if (process.getuid?.() === 0) return;
  const file = path.join(folder, `doctor-${randomUUID()}.part`);
  try {
    await using opened = await open(file, 'wx', 0o600);
    await opened.writeFile(Buffer.alloc(triedBytes));
    await opened.sync();
  } finally {
    await rm(file, { force: true });
  }
}
