// From the form with the shelter's questions to the end of the application.
import type { IncomingMessage } from 'node:http';
import { type Application, HomewardError, type Int64 } from '@homeward/sdk';
import { showAnimal } from './animal-replies.ts';
import { applicationPage, canBeWithdrawn } from './application-page.ts';
import { type ApplicationForm, applyPage, emptyForm } from './apply-page.ts';
import { type Terms, takesApplications } from './catalogue.ts';
import { confirmPage } from './confirm-page.ts';
import type { ContactField } from './contact-fields.ts';
import { attemptOf, readForm, typedIn } from './form-request.ts';
import { noLongerListed } from './lost-page.ts';
import { messagePage } from './message-page.ts';
import type { Outcome } from './outcome.ts';
import { addressOfRequest, cookieWith, listOpenRequests, readOwnRequests } from './own-requests.ts';
import { photoOrigins } from './photo.ts';
import { findFaults, namedIn, readAnswers } from './question-answers.ts';
import { forAdopterAlone, notFound, type Reply, redirectTo, rejectOtherSites, type Site, sentBefore, unclear } from './site-replies.ts';
import { isClientFault, retryAfterSecondsOf } from './store-failure.ts';

/** Some 100,000 letters, or 20,000 that browsers encode as six bytes. */
const formBytesMax = 131_072;
const goneText = 'This application is no longer there. If it was never confirmed, it was deleted after three days. You can apply again.';

interface Shown {
  readonly status?: number;
  readonly outcome?: Outcome;
  readonly headers?: Readonly<Record<string, string>>;
}

export async function showApplicationForm(petId: Int64, site: Site, form: ApplicationForm, shown: Shown = {}): Promise<Reply> {
  const { catalogue } = site;
  const { value: listing } = await catalogue.findAnimal(petId);
  if (!listing) return noLongerListed(site);
  const { status = 200, outcome, headers } = shown;
  const terms = await catalogue.terms(listing.shelter.id);
  // Nothing was sent so far: the page of the animal says what can be done.
  if (!outcome && !takesApplications(listing, terms)) return redirectTo(`/animals/${petId}`);
  const page = applyPage({ listing, terms, form, outcome });
  return { status, page, photosFrom: photoOrigins([listing]), headers: { 'x-robots-tag': 'noindex', ...headers } };
}

export async function apply(request: IncomingMessage, petId: Int64, site: Site): Promise<Reply> {
  const rejected = rejectOtherSites(request);
  if (rejected) return rejected;
  const sent = await readForm(request, formBytesMax);
  const typed = { name: typedIn(sent, 'name'), email: typedIn(sent, 'email'), phone: typedIn(sent, 'phone') };
  const form = { ...emptyForm(attemptOf(sent)), typed, answers: readAnswers(sent) };
  const { phone, ...adopter } = typed;
  const application = {
    petId,
    adopter: { ...adopter, ...(phone !== '' && { phone }) },
    answers: Object.fromEntries([...form.answers].map(([id, answer]) => [id, typeof answer === 'object' ? [...answer] : answer])),
  };
  try {
    const { id } = await site.store.applications.submit(application, { idempotencyKey: form.attempt });
    return redirectTo(addressOf(id, site), cookieWith(request, site, { subject: 'application', petId, id }));
  } catch (error) {
    return explainError(error, request, petId, site, form);
  }
}

/** Each with the status 409 and what was typed. */
const outcomes: Readonly<Record<string, Outcome>> = {
  application_exists: {
    title: 'You have applied already',
    text: 'An application with this e-mail address is still open for this animal, so this one was not sent. Open the page that you got then: it shows where your application stands, and there you can withdraw it to send another.',
  },
  applications_full: {
    title: 'The shelter has many applications for this animal',
    text: 'At the moment it takes no more, so yours was not sent. There is room again when it has decided on some: please try again in a few days, or look at the others who need a home.',
  },
  open_application_limit: {
    title: 'Too many applications are open',
    text: 'As many applications are open as are possible at once: with this e-mail address, or through this site. Yours was not sent. Withdraw one that you no longer want, or try again in a few days.',
  },
};

/** A code that is newer than this site. */
const otherwise: Outcome = {
  title: 'That is not possible right now',
  text: 'The store did not accept this application, so it was not sent. Please ask the shelter: how to reach it is on the page of the animal.',
};

async function explainError(error: unknown, request: IncomingMessage, petId: Int64, site: Site, form: ApplicationForm): Promise<Reply> {
  const code = error instanceof HomewardError ? error.code : '';
  if (error instanceof HomewardError && code === 'invalid_body') return explainFaults(error, petId, site, form);
  if (code === 'pet_not_available') {
    site.catalogue.invalidate('animal', petId);
    const tooLate = { title: 'This animal has just found a home', text: 'Your application was not sent.' };
    return showAnimal(request, petId, site, { form: { attempt: form.attempt }, outcome: tooLate }, { status: 409 });
  }
  if (code === 'idempotency_key_reused') return sentBefore();
  if (code === 'pet_not_found') return noLongerListed(site);
  const retryAfterSeconds = retryAfterSecondsOf(error);
  if (retryAfterSeconds === undefined) {
    if (!isClientFault(error)) throw error;
    const outcome = outcomes[code] ?? otherwise;
    if (outcome === otherwise) console.error(String(error));
    const isOwn = code === 'application_exists' || code === 'open_application_limit';
    const more = isOwn && (await listOpenRequests(readOwnRequests(request, site.key), site.catalogue));
    return showApplicationForm(petId, site, form, { status: 409, outcome: { ...outcome, more } });
  }
  const headers = { 'retry-after': String(retryAfterSeconds) };
  return showApplicationForm(petId, site, form, { status: 503, outcome: unclear, headers }).catch(() => {
    // The form can't be shown again without the questions. The browser still has what was typed.
    const text = `${unclear.text} Go back to it in your browser.`;
    return { status: 503, page: messagePage(unclear.title, text), headers };
  });
}

async function explainFaults({ message }: HomewardError, petId: Int64, site: Site, form: ApplicationForm): Promise<Reply> {
  const named = namedIn(message);
  let questions = (await termsOf(petId, site)).questions;
  let faults = findFaults(questions, form.answers);
  if (named.questions.some((id) => !faults.has(id))) {
    // The questions may have changed since they were read.
    await forgetTerms(petId, site);
    questions = (await termsOf(petId, site)).questions;
    faults = findFaults(questions, form.answers);
  }
  const unexplained = named.questions.filter((id) => !faults.has(id) && questions.some((question) => question.id === id));
  const wrongAnswers = new Map([...faults, ...unexplained.map((id) => [id, 'Please answer this in another way.'] as const)]);
  const wrongContacts = (['name', 'email', 'phone'] satisfies ContactField[]).filter((field) => named.contacts.includes(field));
  const hasFound = wrongAnswers.size + wrongContacts.length > 0;
  const outcome = hasFound
    ? { title: 'Please look at this again', text: 'Your application was not sent yet. Something is missing, or not quite right:' }
    : { title: 'The shelter has changed its questions', text: 'Your application was not sent yet. Please look through it once more.' };
  return showApplicationForm(petId, site, { ...form, wrongAnswers, wrongContacts }, { status: 400, outcome });
}

async function termsOf(petId: Int64, { catalogue }: Site): Promise<Pick<Terms, 'questions'>> {
  const { value: listing } = await catalogue.findAnimal(petId);
  return listing ? catalogue.terms(listing.shelter.id) : { questions: [] };
}

async function forgetTerms(petId: Int64, { catalogue }: Site): Promise<void> {
  catalogue.invalidate('animal', petId);
  const { value: listing } = await catalogue.findAnimal(petId);
  if (listing) catalogue.invalidate('shelter', listing.shelter.id);
}

export async function showApplication(request: IncomingMessage, id: Int64, site: Site): Promise<Reply> {
  const seen = await findApplication(id, site);
  if (!seen) return notFound(goneText);
  const { value: application, asOf } = seen;
  const { value: listing } = await site.catalogue.findAnimal(application.petId);
  return {
    status: 200,
    page: applicationPage({ application, listing, asOf, withdrawAddress: `${addressOf(id, site)}/withdraw` }),
    photosFrom: photoOrigins(listing ? [listing] : []),
    headers: { ...forAdopterAlone, ...cookieWith(request, site, { subject: 'application', petId: application.petId, id }) },
  };
}

/** Asks first: a link alone changes nothing. */
export async function askToWithdraw(id: Int64, site: Site): Promise<Reply> {
  const application = (await findApplication(id, site))?.value;
  if (!application) return notFound(goneText);
  const back = addressOf(id, site);
  if (!canBeWithdrawn(application)) return redirectTo(back);
  const name = (await site.catalogue.findAnimal(application.petId)).value?.pet.name ?? 'this animal';
  const text = `The shelter will no longer consider it.${application.status === 'accepted' ? ` The reservation of ${name} ends too.` : ''} You can’t take that back, but you can apply again.`;
  const title = `Withdraw your application for ${name}?`;
  const page = confirmPage({ title, text, yes: 'Yes, withdraw it', address: `${back}/withdraw`, back });
  return { status: 200, page, headers: forAdopterAlone };
}

export async function withdraw(request: IncomingMessage, id: Int64, { store, catalogue, key }: Site): Promise<Reply> {
  const rejected = rejectOtherSites(request);
  if (rejected) return rejected;
  try {
    const { petId } = await store.applications.withdraw(id);
    catalogue.invalidate('animal', petId);
  } catch (error) {
    if (!(error instanceof HomewardError)) throw error;
    if (error.code === 'application_not_found') return notFound(goneText);
    // It has ended before: its page says how.
    if (error.code !== 'application_state_conflict') throw error;
  }
  catalogue.invalidate('application', id);
  return redirectTo(addressOf(id, { key }));
}

/** Undefined if it was deleted. */
async function findApplication(id: Int64, { catalogue }: Site): Promise<{ value: Application; asOf: string } | undefined> {
  try {
    return await catalogue.application(id);
  } catch (error) {
    if (error instanceof HomewardError && error.code === 'application_not_found') return undefined;
    throw error;
  }
}

const addressOf = (id: Int64, { key }: Pick<Site, 'key'>): string => addressOfRequest('application', id, key);
