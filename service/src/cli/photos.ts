import type { Command } from 'commander';
import type { Dependencies } from '../dependencies.ts';
import type { PhotosConfig, ReadConfig } from '../platform/config.ts';
import { describePostgres } from '../platform/server-addresses.ts';
import { openPhotoStore } from '../store/photos/open-store.ts';
import { checkFiles, type PhotoWithoutFile, removeLost } from '../store/photos/photo-files-check.ts';
import { type PhotoMark, readMark, writeMark } from '../store/photos/photo-mark.ts';
import type { PhotoStore } from '../store/photos/photo-store.ts';
import { type Asked, confirm, UsageError } from './output.ts';
import { drawBar, endProgress } from './progress.ts';
import { onStore, type Result, yesOption } from './store-command.ts';

const listedMax = 100;

export function addPhotoCommands(program: Command, config: ReadConfig): void {
  const photos = program.command('photos').description("check the files of photos, and say where this store's are");

  const checkCommand = photos
    .command('check')
    .description('look for every file of every photo; exit with 1 if the photos are not here, or a file is missing')
    .option('--remove-lost', 'remove the photos whose files are missing, so that partners send them again')
    .option(...yesOption);
  onStore(checkCommand, config, (options: CheckOptions) => (dependencies) => check(dependencies, options));

  const mark = photos
    .command('mark')
    .description("say that this store's photos are where HOMEWARD_PHOTOS says from now on: after they were moved, or are lost for good")
    .option(...yesOption);
  onStore(mark, config, (options: Asked) => async (dependencies) => {
    const { db } = dependencies;
    const { store, place } = open(dependencies);
    const before = await readMark(db, store);
    if (before !== 'own') {
      const target = `${place}, for ${describePostgres(dependencies.config.databaseUrl)}. ${states[before]}`;
      await confirm(target, 'Use it? The worker deletes what no photo of this store refers to.', options);
      await writeMark(db, store);
    }
    const text = before === 'own' ? `${place} is that of this store already.` : `${place} is that of this store now.`;
    return { json: { place, before, mark: 'own' }, text };
  });
}

const states: Readonly<Record<PhotoMark, string>> = {
  own: 'It is that of this store.',
  'none yet': 'No worker has used it yet.',
  missing: 'The photos of this store are not there.',
  other: 'It is that of another store.',
};

interface CheckOptions extends Asked {
  readonly removeLost?: boolean;
}

async function check(dependencies: Dependencies, { removeLost: removes = false, ...asked }: CheckOptions): Promise<Result> {
  const { db } = dependencies;
  const { store, place } = open(dependencies);
  const mark = await readMark(db, store);
  const isHere = mark === 'own' || mark === 'none yet';
  // A disk that is not mounted has no file at all.
  if (removes && mark !== 'own')
    throw new UsageError(`${place}: ${states[mark]} Nothing is removed. Mount it, or run 'homeward photos mark'.`);
  const { counts, checked, withoutFile } = await checkFiles(db, store, drawBar);
  endProgress();
  const removed = removes ? await remove(dependencies, store, withoutFile, asked) : 0;
  if (!isHere || withoutFile.length > removed) process.exitCode = 1;
  const listed = withoutFile.map(({ id, petId }) => ({ id, petId }));
  const missing = counts.originalsMissing;
  return {
    json: { place, mark, ...counts, checked, withoutFile: listed, removed },
    text: [
      `${place}: ${states[mark]}`,
      `Photos: ready ${counts.ready}, processing ${counts.processing}, failed ${counts.failed}.`,
      ...(missing > 0 ? [`Originals that are not found and looked for again: ${missing}.`] : []),
      `Photos without a file: ${withoutFile.length} of ${checked}.`,
      ...listed.slice(0, listedMax).map(({ id, petId }) => `  photo ${id} of animal ${petId}`),
      ...(listed.length > listedMax ? [`  and ${listed.length - listedMax} more: see --json`] : []),
      ...(removes ? [`Removed ${removed} of them. Their partners can send them again.`] : []),
    ],
  };
}

async function remove(
  { db, catalogue }: Dependencies,
  store: PhotoStore,
  lost: readonly PhotoWithoutFile[],
  asked: Asked,
): Promise<number> {
  if (lost.length === 0) return 0;
  await confirm(`${lost.length} photos without a file`, 'Remove them?', asked);
  let removed = 0;
  for (const photo of lost) {
    if (await removeLost(db, catalogue, store, photo)) removed += 1;
    drawBar(removed, lost.length);
  }
  endProgress();
  return removed;
}

function open({ config }: Dependencies): { readonly store: PhotoStore; readonly place: string } {
  const store = openPhotoStore(config.photos);
  if (!config.photos || !store) throw new UsageError('HOMEWARD_PHOTOS is not set here. Set it as for the worker.');
  return { store, place: describe(config.photos) };
}

const describe = (photos: PhotosConfig): string => ('s3' in photos ? `the bucket ${photos.s3.bucket}` : photos.directory);
