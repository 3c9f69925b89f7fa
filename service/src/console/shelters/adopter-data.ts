import { Type } from 'typebox';
import { eraseByEmail } from '../../adoption/applications/applicants.ts';
import { discloseAdopter } from '../../adoption/applications/disclosure.ts';
import type { Clock } from '../../platform/clock.ts';
import { canonicalAddress } from '../../platform/email-addresses.ts';
import { html, personal } from '../../platform/html.ts';
import type { Journal } from '../../platform/journal/journal.ts';
import { FormError, faultsOf, PageError } from '../screens/page-error.ts';
import type { PageRoute, Screens } from '../screens/screens.ts';
import { isFormToken } from '../screens/visit.ts';
import { getSettled, type ShelterParts, shelterHead, shelterPath, shelterPathOf } from './one-shelter.ts';
import { countText } from './shelter-page.ts';

const whose = Type.Object({ email: Type.String({ minLength: 3, maxLength: 254 }) });
const batchSizeMax = 100;

/** One adopter: all that is stored as a file, and its erasure. For admins, who have signed in just now. */
export function addAdopterData(
  screens: Screens,
  { db, journal, clock }: ShelterParts & { readonly clock: Clock; readonly journal: Journal },
): void {
  const path = `${shelterPath}/adopter`;
  const filePath = `${path}/file`;
  const needs = 'adopters:disclose';

  const page: PageRoute = screens.page({
    path,
    needs,
    isFresh: true,
    show: async (visit) => {
      const shelter = await getSettled(db, visit);
      const erasePath = `${shelterPathOf(shelter)}/adopter/erase`;
      const asked =
        visit.rejected?.path === erasePath && visit.rejected.errors?.size === 0 ? visit.rejected.values.get('email') : undefined;
      return {
        title: "One person's data",
        main: html`${shelterHead(shelter, "One person's data")}
<p>An adopter may ask what you store about them, and have it erased. Be sure that it is they who ask.</p>
<section class="card"><h2>All of it as a file</h2>
<p>What <bdi>${shelter.name}</bdi> has about this e-mail address: applications with answers and notes, orders, and what was mailed.
Send it to nobody else. It is noted that you got it.</p>
<form method="post" action="${shelterPathOf(shelter)}/adopter/file" class="form">${visit.hidden()}
<div class="field">
<label for="file-email">E-mail address</label>
<input type="email" id="file-email" name="email" maxlength="254" required autocomplete="off">
</div>
<div class="acts"><button class="button">Get the file</button></div>
</form></section>
<section class="card"><h2>Erase it</h2>
<p>From every application and order here that is not open: name, address, telephone number, answers and notes.
This can't be undone. Open ones stay, and are named: withdraw or cancel them first.</p>
${
  asked
    ? html`<p><strong>Erase everything of ${personal(asked)} here?</strong></p>
${visit.form(
  erase,
  {
    submit: 'Erase it for good',
    tone: 'danger',
    values: { email: asked },
    beside: html`<a class="button quiet" href="${shelterPathOf(shelter)}/adopter">No</a>`,
  },
  (fields) => fields.hidden('email'),
)}`
    : visit.form({ path: askToErase.path, fields: whose }, { submit: 'Erase', tone: 'quiet' }, (fields) =>
        fields.text('email', 'E-mail address', { type: 'email' }),
      )
}</section>`,
      };
    },
  });

  screens.other({
    method: 'POST',
    path: filePath,
    needs,
    isFresh: true,
    checksToken: true,
    handle: async (visit, request, reply) => {
      const { body, visitor } = request;
      if (!(body instanceof URLSearchParams) || !visitor || !isFormToken(body.get('_token'), visitor))
        throw new PageError(
          403,
          'Nothing was read',
          'You have signed in again since this page was opened. Go back, reload it, and ask again.',
        );
      const shelter = await getSettled(db, visit);
      const email = canonicalAddress(body.get('email') ?? '');
      if (email === undefined) throw new PageError(422, 'This is no e-mail address', 'Go back, and check how it is written.');
      const { json } = await discloseAdopter(db, visit.caller, { email, shelterId: shelter.id, now: new Date(clock.now()) });
      request.showsPersonalData = true;
      const name = `adopter-${new Date(clock.now()).toISOString().slice(0, 10)}.json`;
      return reply.type('application/json; charset=utf-8').header('content-disposition', `attachment; filename="${name}"`).send(json);
    },
  });

  const erase = screens.form({
    path: `${path}/erase`,
    page,
    needs,
    isFresh: true,
    fields: whose,
    check: (_, { email }) => faultsOf(() => email !== undefined && requireAddress(email)),
    act: async ({ visit, joined, values }) => {
      const { id } = await getSettled(joined, visit);
      const erased = await eraseByEmail(joined, journal, visit.caller, requireAddress(values.email), batchSizeMax, id);
      const { orders, applications, openOrders, openApplications, otherSpellings } = erased;
      const kept = [
        ...(openApplications.length > 0 ? [`Open applications stay: ${openApplications.slice(0, 10).join(', ')}.`] : []),
        ...(openOrders.length > 0 ? [`Open orders stay: ${openOrders.slice(0, 10).join(', ')}.`] : []),
        ...(otherSpellings.length > 0
          ? ['There are applications of an address that differs by its tag alone. If it is the same person, erase them too.']
          : []),
      ];
      const from = `${countText(applications, 'application')} and ${countText(orders, 'order')}`;
      const done = `Erased from ${from}. Backups have it until they are overwritten.`;
      return { to: `${shelterPathOf({ id })}/adopter`, done: [done, ...kept].join(' ') };
    },
  });
  const askToErase = screens.preview(erase, `${path}/ask`);
}

function requireAddress(text: string): string {
  const email = canonicalAddress(text);
  if (email === undefined) throw new FormError('This is no e-mail address. Check how it is written.', 'email');
  return email;
}
