// What readers type into the search of the documentation, and where the first result must lead.

export interface Question {
  readonly typed: string;
  /** The page, or with a fragment the section of it. */
  readonly first: string;
}

export const questions: readonly Question[] = [
  { typed: 'how do i page through all animals', first: '/docs/paging' },
  { typed: 'next page link header', first: '/docs/paging#follow-the-link' },
  { typed: 'get several animals by id', first: '/docs/paging#by-id' },
  { typed: 'etag 304 not modified', first: '/docs/paging#has-it-changed' },
  { typed: 'what does 429 mean', first: '/docs/errors/rate_limit_exceeded' },
  { typed: '429', first: '/docs/errors/rate_limit_exceeded' },
  { typed: 'how many requests per minute', first: '/docs/limits' },
  { typed: 'X-RateLimit-Reset', first: '/docs/limits#rate-limit-headers' },
  { typed: 'why was my api key banned', first: '/docs/errors/api_key_banned' },
  { typed: 'throttling', first: '/docs/limits' },
  { typed: 'bearer token', first: '/docs/reference#every-request' },
  { typed: 'missing authorization header', first: '/docs/errors/api_key_missing' },
  { typed: 'insufficient scope', first: '/docs/errors/insufficient_scope' },
  { typed: 'pet_not_available', first: '/docs/errors/pet_not_available' },
  { typed: 'animal already reserved', first: '/docs/errors/pet_not_available' },
  { typed: 'invalid json', first: '/docs/errors/invalid_json' },
  { typed: 'cursor expired', first: '/docs/errors/cursor_expired' },
  { typed: '/v1/store/orders', first: '/docs/reference/orders' },
  { typed: 'cancel order', first: '/docs/reference/orders#cancelOrder' },
  { typed: 'approve adoption', first: '/docs/reference/orders#approveOrder' },
  { typed: 'how to place an order', first: '/docs/orders#place-an-order' },
  { typed: 'idempotency', first: '/docs/orders#retry-safely' },
  { typed: 'uuid', first: '/docs/orders#retry-safely' },
  { typed: 'delete personal data gdpr', first: '/docs/orders#the-adopters-data' },
  { typed: 'add a dog', first: '/docs/reference/pets#createPet' },
  { typed: 'delete a pet', first: '/docs/reference/pets#removePet' },
  { typed: 'create category', first: '/docs/reference/categories#putCategory' },
  { typed: 'pet.status_changed', first: '/docs/reference/event-types#pet.status_changed' },
  { typed: 'server sent events', first: '/docs/events#streams' },
  { typed: 'subscribe', first: '/docs/webhooks' },
  { typed: 'verify signature', first: '/docs/webhooks#a-receiver' },
  { typed: 'rotate webhook secret', first: '/docs/webhooks#rotate-the-secret' },
  { typed: 'replay missed webhooks', first: '/docs/webhooks#replay' },
  { typed: 'webhooks on localhost', first: '/docs/webhooks#during-development' },
  { typed: 'install sdk', first: '/docs/sdk#install' },
  { typed: 'int64 ids in javascript', first: '/docs/sdk#ids' },
  { typed: 'python example', first: '/docs/quickstart' },
  { typed: 'deprecated endpoints', first: '/docs/stability' },
  { typed: 'simulate an outage', first: '/docs/rehearsal#rehearse-a-ban-and-an-outage' },
  { typed: 'what changed in 1.0.0', first: '/docs/changelog' },
];

export const misspeltQuestions: readonly Question[] = [
  { typed: 'idempotancy key', first: '/docs/orders#retry-safely' },
  { typed: 'webhok signature', first: '/docs/webhooks' },
  { typed: 'pagnation', first: '/docs/paging' },
  { typed: 'cancle order', first: '/docs/reference/orders#cancelOrder' },
  { typed: 'authentification', first: '/docs/reference#every-request' },
  { typed: 'rate limt', first: '/docs/limits' },
  { typed: 'depracated', first: '/docs/stability' },
  { typed: 'quikstart', first: '/docs/quickstart' },
  { typed: 'pet_not_availble', first: '/docs/errors/pet_not_available' },
  { typed: 'changlog', first: '/docs/changelog' },
];

/** A page as the target means any of its sections. */
export const leadsTo = (url: string, { first }: Question): boolean =>
  first.includes('#') ? url === first : url.split('#', 1)[0] === first;
