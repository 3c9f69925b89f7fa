import { audienceScopes } from '../../domain/event-types.ts';
import { type Scope, scopesThat } from '../../domain/scopes.ts';

/**
 * Conditions on an endpoint, as SQL over `webhooks` and, joined by its key, `api_keys`: one source for what the API shows and what the
 * worker sends.
 */

/** Whether something may be sent to an endpoint. An unverified one gets only tests. */
export const isServed = `(status = 'enabled' and not suspended and removed_at is null)`;

const keyHasOne = (accepted: readonly Scope[]) => `api_keys.scopes && '{${accepted.join()}}'`;

/** Which events the key that an endpoint belongs to may read. If no key is recorded, what was recorded of it. */
export const mayReadPublic = `(api_keys.id is null or ${keyHasOne(audienceScopes.public)})`;
export const mayReadPrivate = `case when api_keys.id is null then with_orders else ${keyHasOne(audienceScopes.private)} end`;
/** The shelter whose orders the key sees; null: none. An endpoint without a recorded key has none. */
export const managedShelter = `case when ${keyHasOne(scopesThat('seeOrders', 'own shelter'))} then api_keys.shelter_id end`;
