import type { Command } from 'commander';
import type { PhotosConfig, ReadConfig } from '../config.ts';
import { type Dependencies, openDependencies } from '../dependencies.ts';
import { openPhotoStore } from '../photos/open-store.ts';
import { checkFiles, type PhotoWithoutFile, removeLost } from '../photos/photo-files-check.ts';
import { type PhotoMark, readMark, writeMark } from '../photos/photo-mark.ts';
import type { PhotoStore } from '../photos/photo-store.ts';
import { describePostgres } from '../server-addresses.ts';
import { confirm, printJson, printLines, UsageError } from './output.ts';
import { drawBar, endProgress } from './progress.ts';

const listedMax = 100;

export function addPhotoCommands(program: Command, config: ReadConfig): void {
  const photos = program.command('photos').description("check the files of photos, and say where this store's are");

  photos
    .command('check')
    .description('look for every file of every photo; exit with 1 if the photos are not here, or a file is missing')
    .option('--remove-lost', 'remove the photos whose files are missing, so that partners send them again')
    .option('--yes', 'do not ask on a terminal')
    .option('--json', 'print one JSON object')
    .action(async ({ removeLost: removes = false, yes, json }: { removeLost?: boolean; yes?: boolean; json?: boolean }) => {
      await using dependencies = await openDependencies(config());
      await check(dependencies, { removes, yes, json });
    });

  photos
    .command('mark')
    .description("say that this store's photos are where HOMEWARD_PHOTOS says from now on: after they were moved, or are lost for good")
    .option('--yes', 'do not ask on a terminal')
    .option('--json', 'print one JSON object')
    .action(async ({ yes, json }: { yes?: boolean; json?: boolean }) => {
      await using dependencies = await openDependencies(config());
      const { db } = dependencies;
      const { store, place } = open(dependencies);
      const before = await readMark(db, store);
      if (before !== 'own') {
        const target = `${place}, for ${describePostgres(dependencies.config.databaseUrl)}. ${states[before]}`;
        await confirm({ target, question: 'Use it? The worker deletes what no photo of this store refers to.', yes, json });
        await writeMark(db, store);
      }
      if (json) printJson({ place, before, mark: 'own' });
      else printLines(before === 'own' ? `${place} is that of this store already.` : `${place} is that of this store now.`);
    });
}

const states: Readonly<Record<PhotoMark, string>> = {
  own: 'It is that of this store.',
  'none yet': 'No worker has used it yet.',
  missing: 'The photos of this store are not there.',
  other: 'It is that of another store.',
};

interface CheckOptions {
  readonly removes: boolean;
  readonly yes: boolean | undefined;
  readonly json: boolean | undefined;
}

async function check(dependencies: Dependencies, { removes, yes, json }: CheckOptions): Promise<void> {
  const { db } = dependencies;
  const { store, place } = open(dependencies);
  const mark = await readMark(db, store);
  const isHere = mark === 'own' || mark === 'none yet';
  // A disk that is not mounted has no file at all.
  if (removes && mark !== 'own')
    throw new UsageError(`${place}: ${states[mark]} Nothing is removed. Mount it, or run 'homeward photos mark'.`);
  const { counts, checked, withoutFile } = await checkFiles(db, store, drawBar);
  endProgress();
  const removed = removes ? await remove(dependencies, store, withoutFile, { yes, json }) : 0;
  const listed = withoutFile.map(({ id, petId }) => ({ id, petId }));
  if (json) printJson({ place, mark, ...counts, checked, withoutFile: listed, removed });
  else {
    printLines(`${place}: ${states[mark]}`);
    printLines(`Photos: ready ${counts.ready}, processing ${counts.processing}, failed ${counts.failed}.`);
    if (counts.originalsMissing > 0) printLines(`Originals that are not found and looked for again: ${counts.originalsMissing}.`);
    printLines(`Photos without a file: ${withoutFile.length} of ${checked}.`);
    for (const { id, petId } of withoutFile.slice(0, listedMax)) printLines(`  photo ${id} of animal ${petId}`);
    if (withoutFile.length > listedMax) printLines(`  and ${withoutFile.length - listedMax} more: see --json`);
    if (removes) printLines(`Removed ${removed} of them. Their partners can send them again.`);
  }
  if (!isHere || withoutFile.length > removed) process.exitCode = 1;
}

async function remove(
  { db, catalogue }: Dependencies,
  store: PhotoStore,
  lost: readonly PhotoWithoutFile[],
  { yes, json }: Pick<CheckOptions, 'yes' | 'json'>,
): Promise<number> {
  if (lost.length === 0) return 0;
  await confirm({ target: `${lost.length} photos without a file`, question: 'Remove them?', yes, json });
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
