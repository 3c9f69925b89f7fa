/**
 * Conditions on an endpoint, as SQL over `webhooks` and, joined by its key, `api_keys`: one source for what the API shows and what the
 * worker sends.
 */

/** Whether something may be sent to an endpoint. An unverified one gets only tests. */
export const isServed = `(status = 'enabled' and not suspended and removed_at is null)`;

/** What the key that an endpoint belongs to may read. If no key is recorded, what was recorded of it. */
export const maySeePets = `(api_keys.id is null or 'pets:read' = any(api_keys.scopes))`;
export const maySeeOrders = `case when api_keys.id is null then with_orders else api_keys.scopes && '{orders:read,shelter:manage,store:manage}' end`;
/** The shelter whose orders the key manages; null: none. An endpoint without a recorded key has none. */
export const managedShelter = `case when 'shelter:manage' = any(api_keys.scopes) then api_keys.shelter_id end`;
