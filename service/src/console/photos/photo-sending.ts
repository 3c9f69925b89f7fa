import { photosMax } from '../../animals/photos/photo-schemas.ts';
import { type Html, type HtmlValue, html } from '../../platform/html.ts';
import { icon } from '../frame/elements.ts';
import type { Visit } from '../screens/visit.ts';
import { photoMegabytesMax, photoTypes } from './photo-uploads.ts';

export const photosPath = (petId: bigint): string => `/animals/${petId}/photos`;

interface SendingParts {
  readonly title: HtmlValue;
  /** How many the animal has. */
  readonly photos: number;
  /** Those that were just sent, on a page of several animals. */
  readonly shown?: Html;
  /** The query of a page of several animals, which is shown again afterwards. */
  readonly back?: string;
}

/** Where photos of an animal are chosen or taken. A script sends each by itself; without one, the form sends them at once. */
export function sendingCard(visit: Visit, petId: bigint, { title, photos, shown, back }: SendingParts): Html {
  const path = photosPath(petId);
  const errors = visit.rejected?.path === path ? [...visit.rejected.errors] : [];
  const wrong = errors.length > 0 && html`<ul class="sent" id="not-accepted">${errors.map(rejectedFile)}</ul>`;
  // Several of these may be on a page.
  const idOf = (name: string) => (back === undefined ? name : `${name}-${petId}`);
  if (photos >= photosMax)
    return html`<section class="card" id="${idOf('animal')}">
${shown && html`<h2>${title}</h2>`}
${shown}
${wrong}
<p>The animal has ${photosMax} photos, as many as there can be. Remove one to add another.</p>
</section>`;
  const described = html` aria-describedby="${idOf('photo-hint')}${wrong !== false && ' not-accepted'}"`;
  const ofScript = html`data-upload="${path}/file" data-token="${visit.formToken}" data-max="${photosMax}"`;
  const key = back === undefined && html` data-key="n"`;
  return html`<section class="card" id="${idOf('animal')}" aria-labelledby="${idOf('add')}" ${ofScript}>
<h2 id="${idOf('add')}">${title}</h2>
${shown}
<form method="post" action="${path}${back && `?${back}`}" enctype="multipart/form-data" class="form">
${visit.hidden()}
${wrong}
<div class="field">
<label for="${idOf('photo')}">Choose photos</label>
<p class="hint" id="${idOf('photo-hint')}">JPEG, PNG or WebP, at most ${photoMegabytesMax} MB each.</p>
<input type="file" id="${idOf('photo')}" name="photo" accept="${photoTypes}" multiple${key}${described}>
</div>
<div class="field camera">
<label for="${idOf('camera')}">Or take one now</label>
<input type="file" id="${idOf('camera')}" name="photo" accept="${photoTypes}" capture="environment" aria-describedby="${idOf('photo-hint')}">
</div>
${back === undefined && html`<p class="soft dropping" data-scripted hidden>Or drop photos on this page, or paste one.</p>`}
<div class="acts"><button class="button">${icon('camera')}Send</button></div>
</form>
<p class="soft" role="status" data-status></p>
<ul class="sent" data-sent></ul>
</section>`;
}

/** A file that was sent and not accepted. Its number is before its name. */
const rejectedFile = ([name, words]: readonly [string, string]): Html => html`<li>
<bdi>${name.slice(name.indexOf(' ') + 1)}</bdi>
<p class="wrong">${words}</p>
</li>`;
