// What happens in a small store over a week. Every operation of the API is called once by a shown step.

import { eraseApplicant, eraseOrderAndApplicant } from '../../../service/src/adoption/applications/applicants.ts';
import { expireDueOrders } from '../../../service/src/adoption/orders/orders.ts';
import { addPet } from '../../../service/test/adoption-steps.ts';
import { executeAsOwner } from '../../../service/test/databases.ts';
import { publishAll } from '../../../service/test/event-steps.ts';
import { applyUnconfirmed } from '../../../service/test/page/page-steps.ts';
import { processAll } from '../../../service/test/photo-steps.ts';
import { minutesAgo, recordUsage } from '../../../service/test/usage-steps.ts';
import { testAuthor } from '../../../testkit/test-author.ts';
import { deliverAll } from './deliveries.ts';
import { completeOrder, placeOrder, submitApplication, type World } from './world.ts';

/** A call that the reference shows. */
export interface ShownStep {
  /** When it happens in the examples. */
  readonly at: string;
  readonly operationId: string;
  /** Whose key is used: by default the partner's. */
  readonly by?: 'partner' | 'staff';
  /** In the order of the path. */
  readonly parameters?: Readonly<Record<string, number>>;
  readonly query?: Readonly<Record<string, string | number>>;
  readonly body?: unknown;
  /** A file that is sent in place of a body. */
  readonly file?: string;
}

/** Something that happens meanwhile. */
export interface HiddenStep {
  readonly at: string;
  readonly prepare: (world: World) => Promise<void>;
}

export type Step = ShownStep | HiddenStep;

export const isShown = (step: Step): step is ShownStep => 'operationId' in step;

const hooks = 'https://example.org/hooks';

export const scenario: readonly Step[] = [
  { at: '2026-11-15T09:12:04.318Z', operationId: 'createPet', body: { name: 'Biscuit', categoryId: 1 } },
  {
    at: '2026-11-15T09:14:30.207Z',
    prepare: async ({ store, partner }) => {
      await addPet(store, partner, { name: 'Zoe', categoryId: 1 });
      // The category of cats is 2.
      await addPet(store, partner, { name: 'Milo', categoryId: 22 });
      await addPet(store, partner, { name: 'Test', categoryId: 10 });
    },
  },
  { at: '2026-11-15T09:20:11.540Z', operationId: 'listPets', query: { status: 'available', limit: 2 } },
  {
    at: '2026-11-15T09:20:30.118Z',
    prepare: async ({ store }) => {
      await executeAsOwner(
        store.dependencies.config.databaseUrl,
        `insert into profiles (pet_id, shelter_id, description, breed_primary, birth_date, sex, size, good_with_children)
          values (1, 1, 'Loves long walks.', 'Labrador Retriever', '2012-05-01', 'male', 'large', 'yes')`,
      );
    },
  },
  { at: '2026-11-15T09:21:02.015Z', operationId: 'getPet', parameters: { petId: 1 } },
  { at: '2026-11-15T09:24:18.260Z', operationId: 'addPhoto', by: 'staff', parameters: { petId: 1 }, file: 'biscuit.jpg' },
  { at: '2026-11-15T09:24:19.377Z', prepare: async ({ photos }) => void (await processAll(photos)) },
  { at: '2026-11-15T09:24:20.481Z', operationId: 'getPhoto', parameters: { petId: 1, photoId: 1 } },
  {
    at: '2026-11-15T09:25:02.934Z',
    operationId: 'updatePhoto',
    by: 'staff',
    parameters: { petId: 1, photoId: 1 },
    body: { alt: 'Biscuit in the grass' },
  },
  { at: '2026-11-15T09:25:40.116Z', operationId: 'listPhotos', parameters: { petId: 1 } },
  { at: '2026-11-15T09:25:48.205Z', operationId: 'listListings', query: { q: 'labrador', status: 'available' } },
  { at: '2026-11-15T09:25:55.377Z', operationId: 'listListingFacets', query: { status: 'available' } },
  { at: '2026-11-15T09:26:33.805Z', operationId: 'removePhoto', by: 'staff', parameters: { petId: 1, photoId: 1 } },
  { at: '2026-11-15T09:30:45.771Z', operationId: 'listCategories', query: { limit: 3 } },
  { at: '2026-11-15T09:32:10.093Z', operationId: 'putCategory', by: 'staff', parameters: { categoryId: 11 }, body: { name: 'Ferrets' } },
  { at: '2026-11-15T09:35:27.664Z', operationId: 'updatePet', by: 'staff', parameters: { petId: 3 }, body: { categoryId: 2 } },
  { at: '2026-11-15T09:36:03.482Z', operationId: 'removeCategory', by: 'staff', parameters: { categoryId: 22 } },
  {
    at: '2026-11-15T09:36:31.904Z',
    operationId: 'createShelter',
    by: 'staff',
    body: {
      name: 'Danube Shelter',
      email: 'hello@danube.example',
      website: 'https://danube.example/',
      address: 'Handelskai 1, 1020 Vienna, Austria',
      latitude: 48.22,
      longitude: 16.4,
      timezone: 'Europe/Vienna',
    },
  },
  { at: '2026-11-15T09:36:44.071Z', operationId: 'listShelters', query: { limit: 2 } },
  { at: '2026-11-15T09:36:58.665Z', operationId: 'getShelter', parameters: { shelterId: 2 } },
  {
    at: '2026-11-15T09:37:12.338Z',
    operationId: 'updateShelter',
    by: 'staff',
    parameters: { shelterId: 2 },
    body: { phone: '+43 1 555 01 23', email: null },
  },
  {
    at: '2026-11-15T09:37:16.120Z',
    operationId: 'updateSiteSettings',
    by: 'staff',
    body: { accentLight: '#a83f1f', imprint: 'Riverside Animals, Handelskai 1, 1020 Vienna, Austria' },
  },
  { at: '2026-11-15T09:37:17.410Z', operationId: 'getSiteSettings' },
  {
    at: '2026-11-15T09:37:19.502Z',
    operationId: 'setShelterQuestions',
    by: 'staff',
    parameters: { shelterId: 2 },
    body: {
      questions: [
        { id: 'garden', text: 'Do you have a garden?', type: 'yes_no', required: true },
        {
          id: 'fence',
          text: 'How high is the fence around your garden?',
          type: 'choice',
          options: ['Up to 1 m', 'Higher'],
          required: true,
          onlyIf: { question: 'garden', is: true },
        },
        { id: 'about', text: 'Who lives in your home?', type: 'text', required: false },
      ],
    },
  },
  { at: '2026-11-15T09:37:22.164Z', operationId: 'getShelterQuestions', parameters: { shelterId: 2 } },
  { at: '2026-11-15T09:37:27.810Z', operationId: 'movePet', by: 'staff', parameters: { petId: 3 }, body: { shelterId: 2 } },
  {
    at: '2026-11-15T09:37:31.204Z',
    operationId: 'putHold',
    by: 'staff',
    parameters: { petId: 3 },
    body: { reason: 'medical', until: '2030-12-01T09:00:00Z', note: 'Stitches come out on 1 December.' },
  },
  { at: '2026-11-15T09:37:36.118Z', operationId: 'getHold', by: 'staff', parameters: { petId: 3 } },
  { at: '2026-11-15T09:37:44.950Z', operationId: 'endHold', by: 'staff', parameters: { petId: 3 } },
  { at: '2026-11-15T09:37:50.126Z', operationId: 'removePet', by: 'staff', parameters: { petId: 4 } },
  {
    at: '2026-11-15T09:45:08.951Z',
    operationId: 'createWebhook',
    body: { url: hooks, types: ['order.approved', 'order.completed'], description: 'Tells adopters by e-mail' },
  },
  { at: '2026-11-15T09:47:33.270Z', operationId: 'testWebhook', parameters: { webhookId: 1 } },
  { at: '2026-11-15T09:47:33.402Z', prepare: deliverAll },
  { at: '2026-11-15T09:50:16.835Z', operationId: 'getWebhook', parameters: { webhookId: 1 } },
  { at: '2026-11-15T09:51:40.198Z', operationId: 'listWebhooks' },
  {
    at: '2026-11-15T10:00:12.627Z',
    operationId: 'placeOrder',
    body: { petId: 1, adopter: { name: 'Robin Vega', email: 'robin@example.org' } },
  },
  { at: '2026-11-15T10:02:29.344Z', operationId: 'getOrder', parameters: { orderId: 1 } },
  { at: '2026-11-15T10:05:41.089Z', operationId: 'approveOrder', by: 'staff', parameters: { orderId: 1 } },
  { at: '2026-11-15T10:05:41.217Z', prepare: deliverAll },
  { at: '2026-11-15T10:20:18.712Z', prepare: (world) => placeOrder(world, 2, { name: 'Sam Okoye', email: 'sam@example.org' }) },
  { at: '2026-11-15T10:21:55.436Z', operationId: 'listOrders', query: { status: 'placed' } },
  { at: '2026-11-15T11:08:07.553Z', operationId: 'cancelOrder', parameters: { orderId: 2 } },
  { at: '2026-11-16T14:30:22.169Z', operationId: 'completeOrder', by: 'staff', parameters: { orderId: 1 } },
  { at: '2026-11-16T14:30:22.305Z', prepare: deliverAll },
  { at: '2026-11-16T14:35:38.874Z', operationId: 'listEvents', query: { type: 'pet.status_changed', limit: 2 } },
  { at: '2026-11-16T14:36:14.610Z', operationId: 'listDeliveries', parameters: { webhookId: 1 }, query: { limit: 2 } },
  { at: '2026-11-16T14:37:49.028Z', operationId: 'getDelivery', parameters: { webhookId: 1, deliveryId: 17 } },
  { at: '2026-11-16T14:38:05.397Z', operationId: 'replayWebhook', parameters: { webhookId: 1 }, body: { deliveryId: 17 } },
  { at: '2026-11-16T14:38:05.521Z', prepare: deliverAll },
  { at: '2026-11-16T14:40:57.243Z', operationId: 'updateWebhook', parameters: { webhookId: 1 }, body: { types: ['order.approved'] } },
  { at: '2026-11-16T14:41:31.786Z', operationId: 'rotateWebhookSecret', parameters: { webhookId: 1 } },
  { at: '2026-11-16T14:42:44.902Z', operationId: 'removeWebhook', parameters: { webhookId: 1 } },
  {
    at: '2026-11-16T14:43:20.390Z',
    operationId: 'putProfile',
    by: 'staff',
    parameters: { petId: 2 },
    body: {
      description: 'Loves long walks. Shy with strangers.',
      breeds: { primary: 'Labrador Retriever', mixed: 'yes' },
      birthDate: '2015-05-01',
      sex: 'female',
      size: 'large',
      goodWith: { children: 'yes', cats: 'no' },
      vaccinated: 'yes',
      adoptionFee: { amount: 12_000, currency: 'EUR' },
    },
  },
  {
    at: '2026-11-16T14:44:09.146Z',
    operationId: 'patchProfile',
    by: 'staff',
    parameters: { petId: 2 },
    body: { goodWith: { dogs: 'yes' }, adoptionFee: null },
  },
  { at: '2026-11-16T14:45:51.602Z', operationId: 'getProfile', parameters: { petId: 2 } },
  {
    at: '2026-11-16T14:50:12.733Z',
    // A key that nobody else uses in the scenario, so that the example is the same in every run.
    prepare: async ({ store }) => {
      const key = await store.createKey({ client: 'Happy Tails' });
      await recordUsage(store, key, { at: minutesAgo(120), requests: 318, errors: { pet_not_found: 2 } });
      await recordUsage(store, key, { at: minutesAgo(60), requests: 402, deprecated: { 'GET /v1/pets/{petId}': 7 } });
    },
  },
  { at: '2026-11-16T14:52:40.508Z', operationId: 'getUsage', query: { interval: 'hour', keyId: 3 } },
  { at: '2026-11-21T16:10:26.051Z', operationId: 'returnOrder', by: 'staff', parameters: { orderId: 1 } },
  { at: '2026-11-22T10:00:03.280Z', prepare: (world) => placeOrder(world, 3, { name: 'Kim Larsen', email: 'kim@example.org' }) },
  {
    at: '2026-11-22T10:00:03.915Z',
    // The order was placed two days before, and nobody has approved it.
    prepare: async ({ store: { dependencies } }) => {
      await executeAsOwner(
        dependencies.config.databaseUrl,
        `update orders set created_at = created_at - interval '48 hours', expires_at = expires_at - interval '48 hours' where id = 3`,
      );
      await expireDueOrders(dependencies.db, dependencies.catalogue, 100);
    },
  },
  {
    at: '2026-11-22T10:10:31.482Z',
    operationId: 'submitApplication',
    body: { petId: 2, adopter: { name: 'Noor Haddad', email: 'noor@example.org', phone: '+43 1 555 01 42' } },
  },
  { at: '2026-11-22T10:12:05.917Z', prepare: (world) => submitApplication(world, 2, { name: 'Kim Larsen', email: 'kim@example.org' }) },
  { at: '2026-11-22T10:14:48.260Z', prepare: (world) => submitApplication(world, 2, { name: 'Sam Okoye', email: 'sam@example.org' }) },
  {
    at: '2026-11-22T10:16:31.602Z',
    prepare: async ({ store, partner }) => {
      await applyUnconfirmed(store, partner, 2, { name: 'Ada Lovelace', email: 'ada@example.orgg' });
    },
  },
  { at: '2026-11-22T10:17:09.188Z', operationId: 'removeApplication', parameters: { applicationId: 4 } },
  { at: '2026-11-22T10:20:16.733Z', operationId: 'listApplications', by: 'staff', query: { petId: 2, limit: 2 } },
  { at: '2026-11-22T10:21:02.108Z', operationId: 'reviewApplication', by: 'staff', parameters: { applicationId: 1 } },
  {
    at: '2026-11-22T10:24:39.571Z',
    operationId: 'noteApplication',
    by: 'staff',
    parameters: { applicationId: 1 },
    body: { note: 'Called: has a garden, works from home.' },
  },
  { at: '2026-11-22T10:25:11.046Z', operationId: 'getApplication', parameters: { applicationId: 1 } },
  {
    at: '2026-11-22T10:26:50.395Z',
    operationId: 'declineApplication',
    by: 'staff',
    parameters: { applicationId: 2 },
    body: { message: 'Zoe needs a home without cats.' },
  },
  { at: '2026-11-22T10:31:27.840Z', operationId: 'reopenApplication', by: 'staff', parameters: { applicationId: 2 } },
  { at: '2026-11-22T10:40:03.664Z', operationId: 'withdrawApplication', parameters: { applicationId: 3 } },
  { at: '2026-11-22T10:45:58.219Z', operationId: 'acceptApplication', by: 'staff', parameters: { applicationId: 1 } },
  { at: '2026-11-22T11:02:14.903Z', prepare: (world) => completeOrder(world, 4) },
  {
    at: '2026-11-22T11:15:48.637Z',
    prepare: async ({ store }) => {
      await eraseOrderAndApplicant(store.dependencies.db, () => true, testAuthor, 2n);
      await eraseApplicant(store.dependencies, () => true, 3n, 'adopter');
      await publishAll(store);
    },
  },
  {
    at: '2026-11-23T09:02:34.402Z',
    operationId: 'recordOutcome',
    by: 'staff',
    parameters: { petId: 3 },
    body: { type: 'returned_to_owner' },
  },
  { at: '2026-11-23T09:02:38.915Z', operationId: 'getOutcome', by: 'staff', parameters: { petId: 3 } },
  { at: '2026-11-23T09:04:44.670Z', operationId: 'undoOutcome', by: 'staff', parameters: { petId: 3 } },
];
