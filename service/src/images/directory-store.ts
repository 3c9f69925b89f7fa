import { randomUUID } from 'node:crypto';
import { mkdir, open, opendir, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { type DiskSpace, isDiskFull, readDiskSpace } from '../platform/disk-space.ts';
import { type FileName, type Folder, hasRoomFor, type PhotoStore, type Stored, type StoredFile, StoreFull } from './photo-store.ts';

/** Files are readable for the group, so that a web server or a backup may read them. */
const fileMode = 0o640;
const folderMode = 0o750;
/** How long it is not looked again how much room there is. */
const spaceMs = 1_000;
const pageSizeMax = 1_000;

/**
 * Photos in a directory. A file is written under another name, synchronised and then renamed. What a process leaves there that is
 * killed meanwhile, `originals/….part`, belongs to no photo, and the weekly scan deletes it.
 */
export class DirectoryStore implements PhotoStore {
  readonly #root: string;
  #space: { readonly found: Promise<DiskSpace | undefined>; readonly untilMs: number } | undefined;

  constructor(root: string) {
    this.#root = root;
  }

  async hasRoom(stored: Stored): Promise<boolean> {
    const nowMs = performance.now();
    if (!this.#space || nowMs >= this.#space.untilMs) {
      this.#space = { found: readDiskSpace(this.#root).catch(() => undefined), untilMs: nowMs + spaceMs };
    }
    const space = await this.#space.found;
    // If it is not known, the write fails.
    return space === undefined || hasRoomFor(stored, space);
  }

  async put(name: FileName, content: Buffer | AsyncIterable<Buffer>): Promise<void> {
    const target = this.#pathOf(name);
    const originals = path.join(this.#root, 'originals');
    const partial = path.join(originals, `${randomUUID()}.part`);
    try {
      await mkdir(originals, { recursive: true, mode: folderMode });
      await mkdir(path.dirname(target), { recursive: true, mode: folderMode });
      await using file = await open(partial, 'wx', fileMode);
      await file.writeFile(content);
      await file.sync();
      await rename(partial, target);
    } catch (error) {
      await rm(partial, { force: true });
      throw isDiskFull(error) ? new StoreFull('the disk of the photos is full', { cause: error }) : error;
    }
    await syncFolder(path.dirname(target));
  }

  async get(name: FileName): Promise<StoredFile | undefined> {
    const file = await open(this.#pathOf(name)).catch(undefinedIfMissing);
    if (!file) return undefined;
    try {
      const { size } = await file.stat();
      return { bytes: size, stream: file.createReadStream() };
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  async sizeOf(name: FileName): Promise<number | undefined> {
    return (await stat(this.#pathOf(name)).catch(undefinedIfMissing))?.size;
  }

  async delete(name: FileName): Promise<void> {
    await rm(this.#pathOf(name), { force: true });
  }

  async modifiedAt(name: FileName): Promise<Date | undefined> {
    return (await stat(this.#pathOf(name)).catch(undefinedIfMissing))?.mtime;
  }

  /** Folder by folder, in the order of their names, without a look at the files themselves. What is in another place than its name says is not ours. */
  async *list(folder: Folder, after?: FileName): AsyncIterable<readonly FileName[]> {
    const root = path.join(this.#root, folder);
    const folders = folder === 'photos' ? lowestFolders(root, after?.slice('photos/'.length) ?? '') : [root];
    let page: FileName[] = [];
    for await (const one of folders) {
      const entries = await opendir(one, { bufferSize: pageSizeMax }).catch(undefinedIfMissing);
      for await (const entry of entries ?? []) {
        const name: FileName = `${folder}/${entry.name}`;
        if (!entry.isFile() || path.join(one, entry.name) !== this.#pathOf(name)) continue;
        page.push(name);
        if (page.length < pageSizeMax) continue;
        yield page;
        page = [];
      }
    }
    if (page.length > 0) yield page;
  }

  /** Photos are in two levels of folders, so that none has millions of entries: photos/3f/a9/3fa9….webp */
  #pathOf(name: FileName): string {
    const [folder = '', file = ''] = name.split('/');
    const levels = folder === 'photos' ? [file.slice(0, 2), file.slice(2, 4)] : [];
    return path.join(this.#root, folder, ...levels, file);
  }
}

/** The second level of folders, from that of the file `from` on. */
async function* lowestFolders(root: string, from: string): AsyncIterable<string> {
  const [first, second] = [from.slice(0, 2), from.slice(2, 4)];
  for (const upper of await foldersIn(root, first)) {
    for (const lower of await foldersIn(path.join(root, upper), upper === first ? second : '')) yield path.join(root, upper, lower);
  }
}

/** 256 at most. */
async function foldersIn(folder: string, from: string): Promise<string[]> {
  const entries = (await readdir(folder, { withFileTypes: true }).catch(undefinedIfMissing)) ?? [];
  const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  return folders.filter((name) => name >= from).toSorted();
}

/** Without this, a crash of the machine may lose the rename. */
async function syncFolder(folder: string): Promise<void> {
  await using handle = await open(folder);
  await handle.sync();
}

function undefinedIfMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
