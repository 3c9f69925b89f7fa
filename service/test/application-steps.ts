// Setup steps for tests about applications. A step that fails ends the test.

import { planBounds } from '../src/access/rate-limit/plans.ts';
import type { Application } from '../src/adoption/applications/application-schemas.ts';
import { submitApplication } from '../src/adoption/applications/submissions.ts';
import { theService } from '../src/domain/actor.ts';
import type { ApplicationStatus } from '../src/domain/application-states.ts';
import { defaultScopes } from '../src/domain/scopes.ts';
import { adopterOf } from './adoption-steps.ts';
import type { CallOptions, TestKey, TestResponse, TestStore } from './test-store.ts';

export interface ApplicationBody {
  readonly id: number;
  readonly petId: number;
  readonly shelterId: number;
  readonly status: ApplicationStatus;
  readonly closedReason: string | null;
  readonly orderId: number | null;
  readonly adopter: { readonly name: string; readonly email: string; readonly phone: string | null } | null;
  readonly answers?: readonly unknown[] | null;
  readonly message: string | null;
  readonly note?: string | null;
  readonly statusUrl?: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** Sends an application and returns the response, whatever its status. */
export const apply = (
  store: TestStore,
  { key }: TestKey,
  petId: number,
  given: object = {},
  options: CallOptions = {},
): Promise<TestResponse<ApplicationBody>> =>
  store.call('POST', '/v1/applications', { key, body: { petId, adopter: adopterOf(petId), ...given }, ...options });

export async function submit(store: TestStore, key: TestKey, petId: number, given: object = {}): Promise<ApplicationBody> {
  const response = await apply(store, key, petId, given);
  if (response.status !== 201) throw new Error(`expected 201; got ${response.status} ${response.text}`);
  return response.json;
}

/** Sends an action on an application and returns the response, whatever its status. */
export const decide = (
  store: TestStore,
  { key }: TestKey,
  id: number,
  action: string,
  options: CallOptions = {},
): Promise<TestResponse<ApplicationBody>> =>
  store.call('POST', `/v1/applications/${id}/${action}`, { key, ...(action === 'decline' && { body: {} }), ...options });

/** Sends several actions, each of which must succeed. */
export async function decideAll(store: TestStore, key: TestKey, id: number, ...actions: string[]): Promise<void> {
  for (const action of actions) {
    const { status, text } = await decide(store, key, id, action);
    if (status !== 200) throw new Error(`expected 200; got ${status} ${text}`);
  }
}

export async function readApplication(store: TestStore, { key }: TestKey, id: number): Promise<ApplicationBody> {
  const { status, text, json } = await store.call<ApplicationBody>('GET', `/v1/applications/${id}`, { key });
  if (status !== 200) throw new Error(`expected 200; got ${status} ${text}`);
  return json;
}

/** One page, with any query. */
export const listApplications = (store: TestStore, { key }: TestKey, query = ''): Promise<TestResponse<ApplicationBody[]>> =>
  store.call('GET', `/v1/applications${query}`, { key });

/** Stores `count` applications of a client for an animal, each of another adopter, without their history. */
export async function fill(
  store: TestStore,
  { clientId }: TestKey,
  petId: number,
  count: number,
  status: ApplicationStatus = 'submitted',
): Promise<void> {
  await store.write(
    `insert into applications (client_id, pet_id, shelter_id, status, is_mailed, adopter_name, adopter_email, adopter_address, answers)
      select $1, id, shelter_id, $3::application_status, false, 'Bob', 'bob' || i || '@example.org', 'bob' || i || '@example.org', '[]'
      from pets, generate_series(1, $4::int) as i where id = $2`,
    clientId,
    petId,
    status,
    count,
  );
}

/** Stores an application as if the store sent e-mail: its adopter has to confirm it first. */
export async function submitUnconfirmed(
  store: TestStore,
  key: TestKey,
  petId: number,
  email = `ada.${petId}@example.org`,
): Promise<Application> {
  const terms = { clientId: key.clientId, bounds: planBounds.free, mails: true };
  const actor = { clientId: key.clientId, keyId: key.id, personId: null, shelterId: null, scopes: defaultScopes, authority: null };
  const given = { petId: BigInt(petId), adopter: { name: 'Ada Lovelace', email } };
  return store.dependencies.db.transaction((tx) => submitApplication(tx, given, actor, terms), theService);
}
