import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { actUndoably } from '../../adoption/undo/undo.ts';
import { PhotoChangesSchema, photosMax } from '../../animals/photos/photo-schemas.ts';
import { changePhoto, listPhotos, type PhotoRow, removePhoto } from '../../animals/photos/photos.ts';
import type { Config } from '../../platform/config.ts';
import type { Transactor } from '../../platform/db/handles.ts';
import { AppError } from '../../platform/errors.ts';
import { type Html, html } from '../../platform/html.ts';
import { noteError } from '../../platform/http/error-handler.ts';
import { getAnimal, headOf, toDescribe } from '../animals/one-animal.ts';
import { emptyState, icon } from '../frame/elements.ts';
import type { Frame } from '../screens/frame.ts';
import { PageError } from '../screens/page-error.ts';
import type { PageRoute, Screens } from '../screens/screens.ts';
import type { Visit } from '../screens/visit.ts';
import { newPhotosPath } from './new-photos.ts';
import { photosPath, sendingCard } from './photo-sending.ts';
import { explainPhotoFailure, explainRejection, type PhotoUploads, type SentPhoto } from './photo-uploads.ts';

interface Parts {
  readonly db: Transactor;
  readonly frame: Frame;
  readonly uploads: PhotoUploads;
  readonly config: Pick<Config, 'photosUrl'>;
}

const { alt, position } = PhotoChangesSchema.properties;
const description = Type.Object({ alt: Type.Optional(Type.Union([alt, Type.Null()])) });
const place = Type.Object({ position });
const nothing = Type.Object({});
const needs = toDescribe;

/** The photos of an animal: sent, described, put in order and removed. */
export function addPhotos(screens: Screens, { db, frame, uploads, config }: Parts): void {
  const page: PageRoute = screens.page({
    path: '/animals/:petId/photos',
    needs,
    show: async (visit) => {
      const animal = await getAnimal(db, visit);
      const photos = await listPhotos(db, animal.id);
      const listed = photos.find(({ status }) => status === 'ready');
      const card = (photo: PhotoRow, index: number) => cardOf(visit, photo, { index, count: photos.length, isListed: photo === listed });
      return {
        title: `Photos of ${animal.name}`,
        main: html`${headOf(animal, html`Photos of <bdi>${animal.name}</bdi>`)}
${
  uploads.isOff
    ? html`<p>This store takes no photos. The people who run it can change that.</p>`
    : sendingCard(visit, animal.id, { title: 'Add photos', photos: photos.length })
}
${
  photos.length === 0
    ? emptyState('camera', 'No photo yet', 'People want to see who they ask for. The first photo is the one that lists show.')
    : html`<section aria-labelledby="photos"><h2 id="photos">${photos.length} of ${photosMax} photos</h2>
<p class="soft">The first one is shown in lists. What a photo shows, in a few words, is read aloud to people who don’t see it.</p>
<ol class="photos" data-photos>${photos.map(card)}</ol></section>`
}`,
      };
    },
  });

  screens.other({
    method: 'POST',
    path: '/animals/:petId/photos',
    needs,
    checksToken: true,
    handle: async (visit, request, reply) => {
      const { id } = await getAnimal(db, visit);
      const sent = await uploads.receiveForm(visit, id, request.raw).catch((error: unknown) => {
        if (!(error instanceof AppError) || explainRejection(error) === undefined) throw error;
        return error;
      });
      if (sent instanceof AppError) return sendAgain(request, reply, [{ fileName: '', result: sent }]);
      if (sent.length === 0 || sent.some(({ result }) => result instanceof AppError)) return sendAgain(request, reply, sent);
      return frame.redirect(reply, newPhotosPath(visit.query.get('of'), id) ?? photosPath(id), added(sent));
    },
  });

  /** The same for a script, which sends one photo as it is. */
  screens.other({
    method: 'POST',
    path: '/animals/:petId/photos/file',
    needs,
    isScript: true,
    handle: async (visit, request, reply) => {
      const { id } = await getAnimal(db, visit);
      try {
        const { isNew } = await uploads.receiveFile(visit, id, request.raw);
        return await reply.send({ message: isNew ? 'Added' : 'This photo was here already. It is shown once.' });
      } catch (error) {
        const words = error instanceof AppError ? explainRejection(error) : undefined;
        if (!(error instanceof AppError) || words === undefined) throw error;
        noteError(error, request);
        reply.headers(error.headers);
        throw new PageError(error.status, '', words);
      }
    },
  });

  const describe = screens.form({
    path: '/animals/:petId/photos/:photoId/describe',
    page,
    needs,
    fields: description,
    act: async ({ visit, joined, values }) => {
      await changePhoto(joined, (await getAnimal(joined, visit)).id, visit.id('photoId'), { alt: values.alt?.trim() ?? '' }, visit.caller);
      return { to: placeOf(visit), done: 'The words for the photo are saved.' };
    },
  });

  const move = screens.form({
    path: '/animals/:petId/photos/:photoId/move',
    page,
    needs,
    fields: place,
    act: async ({ visit, joined, values }) => {
      await changePhoto(
        joined,
        (await getAnimal(joined, visit)).id,
        visit.id('photoId'),
        { position: Number(values.position) },
        visit.caller,
      );
      return { to: placeOf(visit), done: `The photo is number ${Number(values.position) + 1} now.` };
    },
  });

  const remove = screens.form({
    path: '/animals/:petId/photos/:photoId/remove',
    page,
    needs,
    fields: nothing,
    act: async ({ visit, tx, joined }) => {
      const { id } = await getAnimal(joined, visit);
      await actUndoably(tx, { kind: 'photo_removed', petId: id }, visit.caller, () =>
        removePhoto(joined, id, visit.id('photoId'), visit.caller),
      );
      return { to: photosPath(id), done: 'The photo is removed.' };
    },
  });

  /** The page with what is wrong beside each file. Nothing of it is stored that is not shown. */
  function sendAgain(request: FastifyRequest, reply: FastifyReply, sent: readonly SentPhoto[]): Promise<FastifyReply> {
    const rejected = sent.flatMap(({ fileName, result }) => (result instanceof AppError ? { fileName, error: result } : []));
    for (const { error } of rejected) noteError(error, request);
    // Several files of a phone have the same name.
    const errors = new Map(
      rejected.map(({ fileName, error }, index) => [`${index} ${fileName}`, explainRejection(error) ?? error.message]),
    );
    if (!request.raw.complete) reply.header('connection', 'close');
    reply.status(rejected[0]?.error.status ?? 422);
    const text = [
      sent.length > rejected.length && added(sent.filter(({ result }) => !(result instanceof AppError))),
      rejected.length > 0 ? `${count(rejected.length, 'photo was', 'photos were')} not accepted: see below.` : 'Choose a photo first.',
    ];
    const banner = { tone: 'bad', text: text.filter((one) => one !== false).join(' ') } as const;
    return frame.showAgain(page, request, reply, { path: request.url, values: new URLSearchParams(), errors }, banner);
  }

  const cardOf = (
    visit: Visit,
    photo: PhotoRow,
    { index, count: all, isListed }: { index: number; count: number; isListed: boolean },
  ): Html => {
    const { id, status } = photo;
    const params = { ...visit.params, photoId: id };
    const saving = { submit: 'Save', tone: 'quiet', isBeside: true, params, values: { alt: photo.alt } } as const;
    return html`
<li class="card photo" id="photo-${id}" data-state="${status}" tabindex="-1">
<div class="shown">
${shownOf(photo, `Photo ${index + 1} of ${all}`)}
<span class="label ${isListed ? 'good' : 'ended'}">${index + 1}${isListed && ', shown in lists'}</span>
</div>
${visit.form(describe, saving, (fields) => fields.text('alt', 'What it shows'))}
${all > 1 && moving(visit, photo, index, all)}
<details><summary>Remove<span class="hidden"> photo ${index + 1}</span></summary>
${visit.form(remove, { submit: html`Remove photo ${index + 1}`, tone: 'danger', params })}</details>
</li>`;
  };

  const moving = (visit: Visit, { petId, id }: PhotoRow, index: number, all: number): Html => {
    const act = move.path.replace(':petId', String(petId)).replace(':photoId', String(id));
    const button = (to: number, words: Html) =>
      html`<button class="button quiet" name="position" value="${to}">${words}<span class="hidden">: photo ${index + 1}</span></button>`;
    return html`<form method="post" action="${act}" class="order" data-move>${visit.hidden()}
${index > 0 && button(index - 1, html`${icon('back')}Earlier`)}
${index < all - 1 && button(index + 1, html`Later${icon('forward')}`)}
${index > 1 && button(0, html`Make first`)}
</form>`;
  };

  const shownOf = (photo: PhotoRow, place: string): Html => {
    if (photo.status === 'ready') return photoPicture(photo, config.photosUrl, place);
    if (photo.status === 'failed')
      return html`<div class="not-shown bad">${icon('warning')}<p><b>It can’t be shown.</b> ${explainPhotoFailure(photo.failure)}</p></div>`;
    return html`<div class="not-shown">
${icon('clock')}
<p>It is being processed, which takes some seconds. <a href="${photosPath(photo.petId)}#photo-${photo.id}">Look again</a></p>
</div>`;
  };
}

/** So that who has used a button is where the photo is now. */
const placeOf = (visit: Visit): string => `${photosPath(visit.id('petId'))}#photo-${visit.id('photoId')}`;

function added(sent: readonly SentPhoto[]): string {
  const isNew = sent.filter(({ result }) => !(result instanceof AppError) && result.isNew).length;
  const known = sent.length - isNew;
  return [
    isNew > 0 && `${count(isNew, 'photo is', 'photos are')} added.`,
    known > 0 && `${count(known, 'photo was', 'photos were')} here already, and ${known === 1 ? 'is' : 'are'} shown once.`,
  ]
    .filter((part) => part !== false)
    .join(' ');
}

const count = (number: number, one: string, several: string): string => `${number} ${number === 1 ? one : several}`;

/** A photo that is ready, in the widths that it has. `place`: what is said of it while nobody has written what it shows. */
function photoPicture({ alt, width, height, files }: PhotoRow, photosUrl: string, place: string): Html {
  const urls = (files ?? []).map((file) => ({ width: file.width, url: `${photosUrl}/${file.hash}.webp` }));
  const [smallest] = urls;
  if (!smallest) return html``;
  const set = urls.map((one) => `${one.url} ${one.width}w`).join(', ');
  const sources = html`src="${smallest.url}" srcset="${set}" sizes="(min-width: 48rem) 18rem, 90vw"`;
  const size = html`width="${width ?? undefined}" height="${height ?? undefined}"`;
  return html`<img ${sources} alt="${alt || place}" ${size} loading="lazy" decoding="async">`;
}
