import { type Html, html, personal } from '../../platform/html.ts';
import { storeNameOf } from '../../platform/mail-address.ts';
import { previewMail } from '../../store/applications/application-mail.ts';
import type { ListedApplication } from '../../store/applications/staff-applications.ts';
import type { AdoptionParts } from './adoption-parts.ts';
import { adopterName } from './adoption-words.ts';

/** In the place of the adopter's own link, which is for nobody else. */
export const linkOfAdopter = '(a link to the page of this application, for the adopter alone)';

/** The text of the mail that a decision sends, as it would be sent now. */
export async function mailPreview(
  { db, config: { language, mail: sending } }: AdoptionParts,
  application: ListedApplication,
  { kind, message }: { readonly kind: 'accepted' | 'declined'; readonly message?: string | undefined },
): Promise<Html> {
  const mail =
    sending && (await previewMail(db, application.id, { kind, message, language, url: linkOfAdopter, store: storeNameOf(sending.from) }));
  if (!mail)
    return html`<section class="card"><h2>No mail goes out</h2>
<p>Tell ${adopterName(application)} yourself.${kind === 'declined' && ' What you write stays with the application.'}</p></section>`;
  return personal(html`<section class="card"><h2>The mail that goes out</h2>
<div class="mail" role="group" aria-label="The mail"><p class="soft small">To ${mail.to.address}</p>
<p><b dir="auto">${mail.subject}</b></p>
<p class="story" dir="auto">${mail.text.trimEnd()}</p></div></section>`);
}
