import type { FastifyReply, FastifyRequest } from 'fastify';
import { callerOf, created, idReader, noContent, operation, page, read, sendJson, updated } from '../../access/admission/admission-hook.ts';
import { type IdempotentResponse, readIdempotencyKey, respondOnce } from '../../access/idempotency/idempotent-route.ts';
import type { Catalogue } from '../../animals/list-cache/catalogue.ts';
import { RushGate } from '../../animals/pets/rush-gate.ts';
import { staffReach } from '../../domain/actor.ts';
import {
  type ApplicationCallerAction,
  applicationActions,
  applicationCallerActions,
  applicationWriteScopes,
  scopesForApplication,
  startsOf,
} from '../../domain/application-states.ts';
import { hasOne, scopesInWords, scopesThat } from '../../domain/scopes.ts';
import type { Config } from '../../platform/config.ts';
import type { Transaction, Transactions, Transactor } from '../../platform/db/handles.ts';
import { AppError, show } from '../../platform/errors.ts';
import { type Page, readPage, sendPage } from '../../platform/http/paging.ts';
import { type Api, idempotencyHeader, PathIds, Ref } from '../../platform/http/schemas.ts';
import type { Journal } from '../../platform/journal/journal.ts';
import { deleteUnconfirmed } from './applicants.ts';
import { applicationNotFound, rerunning } from './application-errors.ts';
import { findUndelivered } from './application-mail.ts';
import { selectApplications } from './application-queries.ts';
import {
  type Application,
  ApplicationNoteSchema,
  ApplicationSchema,
  applicationJson,
  DeclineSchema,
  idOf,
  ListApplicationsQuery,
  NewApplicationSchema,
  withStatusUrl,
} from './application-schemas.ts';
import { actOnApplication, applicationErrors, getApplication, isStaffOf, readerOf, setNote } from './applications.ts';
import { type Applicant, findRejection, submitApplication } from './submissions.ts';

interface Parts {
  readonly db: Transactor;
  /** Accepting one, and withdrawing an accepted one, changes the status of the animal. */
  readonly catalogue: Catalogue;
  readonly journal: Journal;
  /** The adopter's page; undefined: the store doesn't know its own URL. */
  readonly statusUrlOf: (application: Linked) => string | undefined;
  readonly config: Pick<Config, 'orderExpirySeconds'> & { readonly mails: boolean };
}

/** Of an application that is new. A retry may come after staff have ended it. */
const firstLink = 0n;
/** Which link leads to the adopter's page. */
type Linked = Pick<Application, 'id' | 'linkNumber'>;

const path = '/v1/applications';
const common = { tags: ['Applications'], 'x-stability': 'experimental' } as const;
const applicationId = PathIds({ applicationId: 'Identifier of the application.' });
const readApplicationId = idReader(applicationNotFound);

const ofOwnShelter = scopesInWords('seeOrders', 'own shelter');
const ofAnyShelter = scopesInWords('seeOrders', 'any shelter');

export function applicationRoutes(api: Api, { db, catalogue, journal, statusUrlOf, config }: Parts): void {
  const acts = rerunning(catalogue);
  const gate = new RushGate<Applicant>(db, { what: 'applications', findRejection: (petId) => findRejection(db, petId) });
  const jsonOf = (application: Application, request: FastifyRequest) =>
    applicationJson(application, isStaffOf(callerOf(request), application));
  const response = (application: Application, request: FastifyRequest, status: 200 | 201): IdempotentResponse => ({
    status,
    body: jsonOf(application, request),
    headers: status === 201 ? { location: `${path}/${application.id}` } : {},
    applicationId: application.id,
  });
  /** Undefined: the caller does not get the adopter's page. */
  const urlsFor = (request: FastifyRequest, { clientId }: Pick<Application, 'clientId'>) => {
    const caller = callerOf(request);
    return caller.clientId === clientId && hasOne(caller.scopes, applicationWriteScopes) ? statusUrlOf : undefined;
  };
  const jsonWithUrl = (application: Application, request: FastifyRequest) =>
    withStatusUrl(jsonOf(application, request), urlsFor(request, application)?.(application));

  api.get(
    '/applications',
    operation({
      scope: 'orders:read',
      ...common,
      operationId: 'listApplications',
      summary: 'List applications',
      description: `Returns a page of applications in ascending order of id, so the oldest come first: this client's own applications, with the scope ${ofOwnShelter} also those to the key's shelter, or every one with the scope ${ofAnyShelter}. Only its own client sees an unconfirmed one.`,
      querystring: ListApplicationsQuery,
      response: page('A page of applications, without their answers.', ApplicationSchema),
    }),
    async (request, reply) => {
      const { petId, shelterId, status } = request.query;
      const filters = { petId: petId?.toString(), shelterId: shelterId?.toString(), status };
      const select = (page: Page) => selectApplications(db, readerOf(callerOf(request)), { petId, shelterId, status }, page);
      const { rows, link } = await readPage(path, request.query, filters, select);
      const shown = rows.map(({ note, answers: _, ...application }) => {
        const statusUrl = urlsFor(request, application)?.(application);
        return { ...application, ...(isStaffOf(callerOf(request), application) && { note }), ...(statusUrl && { statusUrl }) };
      });
      return sendPage(reply, { rows: shown, link });
    },
  );

  api.post(
    '/applications',
    operation({
      scope: applicationWriteScopes,
      ...common,
      operationId: 'submitApplication',
      summary: 'Submit an application',
      description:
        'Asks for an available or pending animal for an adopter. The animal stays as it is, and others may apply too: staff choose, and an order begins with that choice. If the store sends e-mail, the application is unconfirmed until the adopter has confirmed the address.',
      headers: idempotencyHeader,
      body: Ref(NewApplicationSchema),
      response: created('The application.', ApplicationSchema),
      errors: applicationErrors.submit,
    }),
    (request, reply) => {
      const caller = callerOf(request);
      const terms = { clientId: caller.clientId, bounds: caller.bounds, mails: config.mails };
      const { petId, confirmed = false } = request.body;
      // An unconfirmed one takes no lock on the animal.
      const asks = config.mails && !confirmed;
      const key = readIdempotencyKey(request.headers['idempotency-key']);
      const who = { clientId: caller.clientId, isEntry: confirmed && staffReach(caller, 'manageOrders') !== null };
      const gated: Transactions = {
        transaction: (work, by) => gate.run({ petId, clientId: caller.clientId, who, key }, () => db.transaction(work, by)),
      };
      const submit = async (tx: Transaction) => response(await submitApplication(tx, request.body, caller, terms), request, 201);
      return respondOnce(asks ? db : gated, request, reply, submit, {
        complete: (body) => withStatusUrl(body, urlsFor(request, caller)?.({ id: idOf(body), linkNumber: firstLink })),
      });
    },
  );

  api.get(
    '/applications/:applicationId',
    operation({
      scope: 'orders:read',
      ...common,
      operationId: 'getApplication',
      summary: 'Get an application',
      params: applicationId,
      response: read('The application.', ApplicationSchema),
      errors: applicationErrors.get,
    }),
    async (request, reply) => {
      const application = await getApplication(db, callerOf(request), readApplicationId(request.params.applicationId));
      const mailFailures = isStaffOf(callerOf(request), application) ? await findUndelivered(db, application.id) : [];
      return sendJson(reply, jsonWithUrl({ ...application, mailFailures }, request));
    },
  );

  api.patch(
    '/applications/:applicationId',
    operation({
      scope: scopesThat('manageOrders'),
      ...common,
      operationId: 'noteApplication',
      summary: 'Add a note to an application',
      description:
        'Only staff see it. The newest is `note` of the application, and the console shows all with author and time, the newest 50. Null removes the newest that you have written.',
      params: applicationId,
      body: Ref(ApplicationNoteSchema),
      response: updated('The application.', ApplicationSchema),
      errors: applicationErrors.note,
    }),
    async (request, reply) => {
      const id = readApplicationId(request.params.applicationId);
      const { note } = request.body;
      const application = await db.transaction((tx) => setNote(tx, id, note, callerOf(request)), callerOf(request));
      return sendJson(reply, jsonWithUrl(application, request));
    },
  );

  api.delete(
    '/applications/:applicationId',
    operation({
      scope: applicationWriteScopes,
      ...common,
      operationId: 'removeApplication',
      summary: 'Delete an unconfirmed application',
      description:
        "For one that was sent to a wrong address, or by mistake: it and its adopter's data are gone. One that its adopter has confirmed can be withdrawn.",
      params: applicationId,
      response: noContent('The application was deleted.'),
      errors: applicationErrors.delete,
    }),
    async (request, reply) => {
      await deleteUnconfirmed(db, journal, readApplicationId(request.params.applicationId), callerOf(request));
      return reply.status(204).send();
    },
  );

  for (const name of applicationCallerActions) {
    const { summary, to } = applicationActions[name];
    const declared = {
      scope: scopesForApplication(name),
      ...common,
      operationId: `${name}Application`,
      summary: `${name[0]?.toUpperCase()}${name.slice(1)} an application`,
      description: `${summary} Changes the status from ${startsOf(name).join(' or ')} to ${to}.`,
      params: applicationId,
      headers: idempotencyHeader,
      response: updated('The updated application.', ApplicationSchema),
      errors: errorsOf(name),
    };
    const act = (request: FastifyRequest<{ Params: { applicationId: string } }>, reply: FastifyReply, message?: string) =>
      respondOnce(acts, request, reply, async (tx) => {
        const id = readApplicationId(request.params.applicationId);
        const { orderExpirySeconds } = config;
        return response(await actOnApplication(tx, id, name, callerOf(request), { message, orderExpirySeconds }), request, 200);
      });
    if (name === 'decline') {
      const route = operation({ ...declared, body: Ref(DeclineSchema) });
      const withBody = (request: FastifyRequest, _: FastifyReply, done: () => void) => {
        request.body ??= {};
        done();
      };
      api.post(`/applications/:applicationId/${name}`, { ...route, preValidation: withBody }, (request, reply) =>
        act(request, reply, request.body.message),
      );
    } else {
      api.post(`/applications/:applicationId/${name}`, operation(declared), (request, reply) => {
        rejectFields(request.body, name);
        return act(request, reply);
      });
    }
  }
}

/** A message would be lost in silence. */
function rejectFields(body: unknown, name: ApplicationCallerAction): void {
  const [field] = typeof body === 'object' && body !== null ? Object.keys(body) : [];
  if (field !== undefined)
    throw new AppError('invalid_body', `${show(field)} is not a field of ${name}, which takes none. Only decline takes a message.`);
}

const errorsOf = (name: ApplicationCallerAction) =>
  name === 'accept' || name === 'reopen' ? applicationErrors[name] : applicationErrors.act;
