import { open } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import type { Command } from 'commander';
import type { Client } from '../../access/clients/client-queries.ts';
import { boundsOf } from '../../access/rate-limit/plans.ts';
import { storageFull, storeOriginal } from '../../animals/photos/originals.ts';
import { photosJson } from '../../animals/photos/photo-json.ts';
import { type PhotoMark, readMark, requireHere, writeMark } from '../../animals/photos/photo-mark.ts';
import { checkFiles, type PhotoWithoutFile, removeLost } from '../../animals/photos/photo-scan.ts';
import { PhotoChangesSchema } from '../../animals/photos/photo-schemas.ts';
import { addPhoto, changePhoto, getPhoto, listPhotos, type PhotoRow, removePhoto } from '../../animals/photos/photos.ts';
import { requireRoom } from '../../animals/photos/upload-listener.ts';
import type { Dependencies } from '../../dependencies.ts';
import { theService } from '../../domain/actor.ts';
import { photoBytesMax, photoFailures, recogniseImage, signatureBytes } from '../../images/image-types.ts';
import { openPhotoStore } from '../../images/open-store.ts';
import { type PhotoStore, StoreFull } from '../../images/photo-store.ts';
import type { PhotosConfig, ReadConfig } from '../../platform/config.ts';
import { describePostgres } from '../../platform/server-urls.ts';
import { getClientByName } from '../access/clients.ts';
import { checkBySchema } from '../terminal/checked-options.ts';
import { type ConfirmOptions, confirm, drawBar, drawText, endProgress, printTable, UsageError } from '../terminal/output.ts';
import { type CommandResult, onStore, parseId, printsArray, yesOption } from '../terminal/store-command.ts';
import { getNamedPet, petName } from './named-pets.ts';

const waitMs = 60_000;
const pollMs = 250;

interface AddOptions {
  readonly client: string;
  readonly alt?: string;
  readonly wait: boolean;
}

/** A photo as the API and --json show it. */
type ShownPhoto = { readonly id: number };

export const shownPhotos = (photos: readonly PhotoRow[], photosUrl: string): ShownPhoto[] => JSON.parse(photosJson(photos, photosUrl));

export function addPetPhotoCommands(pets: Command, config: ReadConfig): void {
  const photo = pets.command('photo').description('add, list and remove the photos of an animal');

  const add = photo
    .command('add')
    .description('add a photo to an animal, and wait until its pictures are made')
    .argument('<id>', 'the animal', parseId)
    .argument('<file>', 'a JPEG, PNG or WebP image of at most 20 MB')
    .requiredOption('--client <name>', 'the client that its bytes are counted for, without a limit')
    .option('--alt <text>', 'what the photo shows, for people who do not see it')
    .option('--no-wait', 'end as soon as the photo is stored');
  onStore(add, config, async (id: bigint, file: string, { client: name, alt, wait }: AddOptions) => {
    const altSchema = { type: 'object', properties: { '--alt': PhotoChangesSchema.properties.alt } };
    if (alt !== undefined) checkBySchema(altSchema, { '--alt': alt });
    await requireImageFile(file);
    return async (dependencies) => {
      const { db, catalogue, config } = dependencies;
      const pet = await getNamedPet(db, id);
      const added = await upload(dependencies, id, file, await getClientByName(db, name));
      const described = alt === undefined ? added : await changePhoto(catalogue, id, added.id, { alt }, theService);
      const shown = wait ? await waitFor(dependencies, described) : described;
      if (shown.status === 'failed' || (wait && shown.status !== 'ready')) process.exitCode = 1;
      const [json] = shownPhotos([shown], config.photosUrl);
      return { json, text: describePhoto(shown, petName(pet), wait) };
    };
  });

  const list = photo
    .command('list')
    .description('list the photos of an animal in the order in which they are shown')
    .argument('<id>', 'the animal', parseId);
  const read =
    (id: bigint) =>
    async ({ db, config: { photosUrl } }: Dependencies) => {
      const pet = await getNamedPet(db, id);
      const photos = await listPhotos(db, id);
      return { json: shownPhotos(photos, photosUrl), text: () => printTable(photos.map(rowOf), `${petName(pet)} has no photos.`) };
    };
  onStore(list, config, read, printsArray);

  const remove = photo
    .command('remove')
    .description('remove a photo; its pictures are deleted after a day')
    .argument('<id>', 'the animal', parseId)
    .argument('<photo>', 'the photo', parseId)
    .option(...yesOption);
  onStore(remove, config, (id: bigint, photoId: bigint, asked: ConfirmOptions) => async ({ db, catalogue }) => {
    const pet = await getNamedPet(db, id);
    const { status, alt } = await getPhoto(db, id, photoId);
    await confirm(`Photo ${photoId} of ${petName(pet)}, ${status}${alt ? `: ${alt}` : ''}`, 'Remove it?', asked);
    await removePhoto(catalogue, id, photoId, theService);
    return { json: { id: photoId, petId: id, removed: true }, text: `Removed photo ${photoId} of ${petName(pet)}.` };
  });
}

/** Throws if the file is not a photo that the store accepts, before anything is opened. */
async function requireImageFile(file: string): Promise<void> {
  await using handle = await openFile(file);
  const stats = await handle.stat();
  if (!stats.isFile()) throw new UsageError(`${file} is ${stats.isDirectory() ? 'a folder' : 'no file'}. Give the file of one photo.`);
  if (stats.size === 0) throw new UsageError(`${file} is empty.`);
  if (stats.size > photoBytesMax) {
    const megabytes = (stats.size / 1e6).toFixed(1);
    throw new UsageError(`${file} has ${megabytes} MB; ${photoBytesMax / 1e6} MB are allowed. Save it with fewer pixels, and add that.`);
  }
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(signatureBytes), 0, signatureBytes, 0);
  const type = recogniseImage(buffer.subarray(0, bytesRead));
  if (type === 'image/heic') throw new UsageError(`${file} is a HEIC or AVIF photo, which can't be read. Save it as a JPEG, and add that.`);
  if (!type) throw new UsageError(`${file} is not a JPEG, PNG or WebP image.`);
}

async function openFile(file: string) {
  try {
    return await open(file);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new UsageError(code === 'ENOENT' ? `There is no file ${file}.` : `${file} can't be read: ${message}.`);
  }
}

/** The same steps as an upload over the API, done as the store's staff: its bytes are counted and not limited. */
async function upload({ db, config }: Dependencies, petId: bigint, file: string, client: Client): Promise<PhotoRow> {
  const { store } = openPlace({ config });
  await requireRoom(store);
  await requireHere(db, store);
  const original = await storeFile(store, file);
  const sender = { ...theService, clientId: client.id, bounds: boundsOf(client) };
  const { photo } = await addPhoto({ db, store }, petId, original, sender);
  return photo;
}

async function storeFile(store: PhotoStore, file: string) {
  await using handle = await openFile(file);
  try {
    return await storeOriginal(store, handle.createReadStream({ autoClose: false }));
  } catch (error) {
    throw error instanceof StoreFull ? storageFull() : error;
  }
}

/** Returns the photo as it is once it was processed, or after a minute. */
async function waitFor({ db }: Dependencies, { id, petId }: PhotoRow): Promise<PhotoRow> {
  const startedAtMs = performance.now();
  for (;;) {
    const photo = await getPhoto(db, petId, id);
    const elapsedMs = performance.now() - startedAtMs;
    if (photo.status !== 'processing' || elapsedMs > waitMs) {
      endProgress();
      return photo;
    }
    drawText(`Stored photo ${id}. Its pictures are being made … ${Math.floor(elapsedMs / 1_000)} s`);
    await setTimeout(pollMs);
  }
}

function describePhoto({ id, petId, status, failure, alt }: PhotoRow, pet: string, waited: boolean): string[] {
  const see = `See it: homeward pets photo list ${petId}`;
  if (status === 'failed') return [`Photo ${id} of ${pet} can't be shown: ${failure === null ? 'it failed.' : photoFailures[failure]}`];
  if (status === 'ready') {
    const hint = alt ? [] : ['It has no text for people who do not see it. Add the same file again with --alt to give it one.'];
    return [`Photo ${id} of ${pet} is ready.`, ...hint];
  }
  if (!waited) return [`Stored photo ${id} of ${pet}. It is shown once its pictures are made. ${see}`];
  return [
    `Stored photo ${id} of ${pet}, but its pictures are not made yet: many photos wait before it, or no 'homeward worker' runs. ${see}`,
  ];
}

const rowOf = ({ id, status, width, height, alt, failure }: PhotoRow) => ({
  id,
  status,
  pixels: width === null ? null : `${width} × ${height}`,
  text: alt,
  ...(failure && { problem: photoFailures[failure] }),
});

const listedMax = 100;

export function addPhotoCommands(program: Command, config: ReadConfig): void {
  const photos = program.command('photos').description("check the files of photos, and say where this store's are");

  const checkCommand = photos
    .command('check')
    .description('look for every file of every photo; exit with 1 if the photos are not here, or a file is missing')
    .option('--remove-lost', 'remove the photos whose files are missing, so that partners send them again')
    .option(...yesOption);
  onStore(checkCommand, config, (options: CheckOptions) => (dependencies) => checkPhotos(dependencies, options));

  const mark = photos
    .command('mark')
    .description("say that this store's photos are where HOMEWARD_PHOTOS says from now on: after they were moved, or are lost for good")
    .option(...yesOption);
  onStore(mark, config, (options: ConfirmOptions) => async (dependencies) => {
    const { db } = dependencies;
    const { store, place } = openPlace(dependencies);
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

interface CheckOptions extends ConfirmOptions {
  readonly removeLost?: boolean;
}

async function checkPhotos(dependencies: Dependencies, { removeLost: removes = false, ...asked }: CheckOptions): Promise<CommandResult> {
  const { db } = dependencies;
  const { store, place } = openPlace(dependencies);
  const mark = await readMark(db, store);
  const isHere = mark === 'own' || mark === 'none yet';
  // A disk that is not mounted has no file at all.
  if (removes && mark !== 'own')
    throw new UsageError(`${place}: ${states[mark]} Nothing is removed. Mount it, or run 'homeward photos mark'.`);
  const { counts, checked, withoutFile } = await checkFiles(db, store, drawBar);
  endProgress();
  const removed = removes ? await removeAllLost(dependencies, store, withoutFile, asked) : 0;
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

async function removeAllLost(
  { db, catalogue }: Dependencies,
  store: PhotoStore,
  lost: readonly PhotoWithoutFile[],
  asked: ConfirmOptions,
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

function openPlace({ config }: Pick<Dependencies, 'config'>): { readonly store: PhotoStore; readonly place: string } {
  const store = openPhotoStore(config.photos);
  if (!config.photos || !store) throw new UsageError('HOMEWARD_PHOTOS is not set here. Set it as for the worker.');
  return { store, place: placeText(config.photos) };
}

const placeText = (photos: PhotosConfig): string => ('s3' in photos ? `the bucket ${photos.s3.bucket}` : photos.directory);
