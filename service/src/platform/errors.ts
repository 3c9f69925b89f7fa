import { printableJson } from './characters.ts';

const upload = 'POST /v1/pets/1/photos\nContent-Type: image/jpeg\n\n(the bytes)';

/**
 * All error codes. The responses, their statuses, the OpenAPI document and the help pages are generated
 * from this table.
 */
export const errorCodes = {
  malformed_request: {
    status: 400,
    cause: 'The bytes received are not a valid HTTP/1.1 request.',
    fix: 'Use a standard HTTP client, and check for a proxy that rewrites requests.',
    code: { send: ['GET /v1/pets?status=available'] },
    request: 'FETCH /v1/pets',
    message: 'This is not a valid HTTP/1.1 request (HPE_INVALID_METHOD).',
  },
  invalid_json: {
    status: 400,
    cause: 'The body is not a single JSON value in UTF-8, is nested too deeply, or sets __proto__.',
    fix: 'Send one JSON object, encoded as UTF-8.',
    code: { send: ['POST /v1/pets\n\n{"name":"Biscuit","categoryId":1}'] },
    request: 'POST /v1/pets\n\n{"name":"Biscuit",}',
    message:
      'The body is not valid JSON: Expected double-quoted property name in JSON at position 18 (line 1 column 19). Remove the comma before the closing bracket.',
  },
  invalid_body: {
    status: 400,
    cause:
      'The body lacks a required field, a field has an invalid value, or there is no such field. Unknown fields are ignored only in bodies of animals, orders and categories.',
    fix: 'Correct the field named in the message.',
    code: { send: ['POST /v1/pets\n\n{"name":"Biscuit","categoryId":1}'] },
    request: 'POST /v1/pets\n\n{"name":"Biscuit","categoryId":"dogs"}',
    message: 'categoryId must be an integer (int64); got "dogs".',
  },
  invalid_query: {
    status: 400,
    cause:
      'A query parameter is unknown or has an invalid value, or one other than id is repeated. Unknown query parameters are rejected, since a misspelt filter would return the wrong animals.',
    fix: 'Correct or remove the parameter named in the message.',
    code: { send: ['GET /v1/categories', 'GET /v1/pets?categoryId=1'] },
    request: 'GET /v1/pets?category=1',
    message:
      'Unknown query parameter "category". Did you mean categoryId? GET /v1/categories lists the ids. This operation takes limit, cursor, status, categoryId, id.',
  },
  invalid_cursor: {
    status: 400,
    cause: 'The cursor was not created by this service, or was created for other filters.',
    fix: 'Follow the Link header of the previous page without changing it. To change a filter, start again without a cursor.',
    code: { send: ['GET /v1/pets?status=available'] },
    request: 'GET /v1/pets?cursor=page2',
    message: 'cursor was not created by this service. Follow the Link header of the previous page without changing it.',
  },
  invalid_idempotency_key: {
    status: 400,
    cause:
      'The Idempotency-Key is empty, longer than 255 characters, contains characters other than visible ASCII, or was sent more than once.',
    fix: 'Use a random UUID.',
    code: { send: ['POST /v1/pets\n\n{"name":"Biscuit","categoryId":1}'] },
    request: 'POST /v1/pets\nIdempotency-Key: add Biscuit\n\n{"name":"Biscuit","categoryId":1}',
    message: 'Idempotency-Key must be 1–255 visible ASCII characters, given once; got "add Biscuit".',
  },
  invalid_rehearsal: {
    status: 400,
    cause:
      'Homeward-Now is not a valid time, or Homeward-Simulate is not a known simulation. Only a staging deployment reads these headers.',
    fix: 'Send a time such as 2030-12-06T00:00:00Z, or one of rate_limit, ban, unavailable and slow. Or omit the header.',
    code: { send: ['GET /v1/pets?status=available'] },
    request: 'GET /v1/pets\nHomeward-Simulate: outage',
    message: 'Homeward-Simulate must be one of rate_limit, ban, unavailable, slow; got "outage".',
  },
  category_not_found: {
    status: 400,
    cause: 'This store has a closed list of categories, and the given categoryId is not on it.',
    fix: 'Use the id of an existing category (GET /v1/categories).',
    code: { send: ['GET /v1/categories', 'POST /v1/pets\n\n{"name":"Biscuit","categoryId":1}'] },
    request: 'POST /v1/pets\n\n{"name":"Biscuit","categoryId":4711}',
    message: 'Category 4711 does not exist in this store.',
  },
  category_limit: {
    status: 400,
    cause: 'The given categoryId is new, and the client has already registered as many new categories today (UTC) as its plan allows.',
    fix: "Use an existing category (GET /v1/categories), wait until midnight UTC, or ask the store's staff to add the category.",
    code: { send: ['GET /v1/categories', 'POST /v1/pets\n\n{"name":"Biscuit","categoryId":1}'] },
    request: 'POST /v1/pets\n\n{"name":"Biscuit","categoryId":4711}',
    message:
      "Category 4711 does not exist, and this client has registered 20 of 20 new categories today (UTC). Use an existing category (GET /v1/categories), wait until midnight UTC, or ask the store's staff to add it.",
  },
  webhook_url_refused: {
    status: 400,
    cause:
      'Events are sent only over https, to a host with a public address, on port 443 or a port from 1024 up. The URL must not contain control characters.',
    fix: 'Use a URL such as https://example.org/hooks.',
    code: { send: ['POST /v1/webhooks\n\n{"url":"https://example.org/hooks"}'] },
    request: 'POST /v1/webhooks\n\n{"url":"http://example.org/hooks"}',
    message: 'url must use https; got "http://example.org/hooks".',
  },
  api_key_missing: {
    status: 401,
    cause: 'The request has no Authorization header. A key in another header or in the query is not read.',
    fix: "Send your key as 'Authorization: Bearer <API_KEY>'.",
    code: { send: ['GET /v1/pets?status=available'] },
    request: 'GET /v1/pets',
    message: "Send your key as 'Authorization: Bearer <API_KEY>'. This request had no Authorization header.",
  },
  api_key_invalid: {
    status: 401,
    cause:
      "The Authorization header has no valid key for this deployment: the key is mistyped or belongs to another environment, 'Bearer ' is missing before it, or the header was sent more than once. The message says which, but never shows what was sent.",
    fix: 'Compare the key with the one you saved. It has 46 characters and starts with hw_.',
    code: { send: ['GET /v1/pets?status=available'] },
    request: 'GET /v1/pets\nAuthorization: Bearer hw_live_abc',
    message: "This is not a Homeward key: it is mistyped or cut off. A key starts with 'hw_' and has 46 characters.",
  },
  api_key_expired: {
    status: 401,
    cause: 'The key has expired: its expiry date has passed, or it was rotated and the overlap is over.',
    fix: "Use the key that replaced it, or ask the store's staff for a new one.",
    code: { send: ['GET /v1/pets?status=available'] },
    request: 'GET /v1/pets',
    message: 'Key 7 expired at 2026-11-15T10:00:00.000Z. Use a new key.',
  },
  api_key_revoked: {
    status: 401,
    cause: 'The key was revoked.',
    fix: "Use the key that replaced it, or ask the store's staff for a new one.",
    code: { send: ['GET /v1/pets?status=available'] },
    request: 'GET /v1/pets',
    message: 'Key 7 was revoked at 2026-11-15T10:00:00.000Z. Use another key.',
  },
  insufficient_scope: {
    status: 403,
    cause: 'The key is valid but does not have the scope that this operation needs, or it manages another shelter than that of the animal.',
    fix: 'Use a key that has the scope or belongs to the shelter named in the message.',
    code: { send: ['PATCH /v1/shelters/1\n\n{"phone":null}'] },
    request: 'PATCH /v1/shelters/1\n\n{"phone":null}',
    message:
      'This operation needs the scope store:manage or shelter:manage; this key has pets:read, pets:write, orders:read, orders:write, applications:write, webhooks:manage.',
  },
  client_suspended: {
    status: 403,
    cause: "The store's operators have suspended this client: all its keys are rejected, and nothing is sent to its webhook endpoints.",
    fix: "Contact the store's staff. Your keys work again once the suspension ends.",
    code: { report: 'GET /v1/pets?status=available' },
    request: 'GET /v1/pets',
    message:
      "Happy Tails was suspended by the store at 2026-11-15T10:00:00.000Z. Contact the store's staff. Your keys work again once the suspension ends.",
  },
  route_not_found: {
    status: 404,
    cause: 'There is no operation at this path.',
    fix: 'Compare the path with the reference. Every API path starts with /v1.',
    code: { send: ['GET /v1/pets?status=available'] },
    request: 'GET /v1/animals',
    message: 'There is no operation at /v1/animals. Did you mean /v1/pets?',
  },
  pet_not_found: {
    status: 404,
    cause: 'No animal has this id.',
    fix: 'List animals with GET /v1/pets. Ids are never reused.',
    code: { send: ['GET /v1/pets?status=available'] },
    request: 'GET /v1/pets/4711',
    message: 'There is no animal with id 4711.',
  },
  photo_not_found: {
    status: 404,
    cause: 'The animal has no photo with this id.',
    fix: 'List its photos with GET /v1/pets/{petId}/photos.',
    code: { send: ['GET /v1/pets/1/photos'] },
    request: 'GET /v1/pets/1/photos/4711',
    message: 'Animal 1 has no photo with id 4711.',
  },
  category_unknown: {
    status: 404,
    cause: 'The category in the path does not exist.',
    fix: 'List categories with GET /v1/categories.',
    code: { send: ['GET /v1/categories'] },
    request: 'DELETE /v1/categories/4711',
    message: 'There is no category with id 4711.',
  },
  shelter_not_found: {
    status: 404,
    cause: 'No shelter has this id.',
    fix: 'List shelters with GET /v1/shelters.',
    code: { send: ['GET /v1/shelters'] },
    request: 'GET /v1/shelters/4711',
    message: 'There is no shelter with id 4711.',
  },
  order_not_found: {
    status: 404,
    cause: 'This client has no order with this id.',
    fix: 'List your orders with GET /v1/store/orders.',
    code: { send: ['GET /v1/store/orders'] },
    request: 'GET /v1/store/orders/4711',
    message: 'You have no order with id 4711.',
  },
  application_not_found: {
    status: 404,
    cause: 'This client has no application with this id, or it was never confirmed.',
    fix: 'List your applications with GET /v1/applications.',
    code: { send: ['GET /v1/applications'] },
    request: 'GET /v1/applications/4711',
    message: 'You have no application with id 4711.',
  },
  outcome_not_found: {
    status: 404,
    cause: 'The animal is listed, so it has no outcome, or none any more.',
    fix: 'Read the animal. To record an outcome, send POST to the same path.',
    code: { send: ['GET /v1/pets?id=1'] },
    request: 'GET /v1/pets/1/outcome',
    message: 'Biscuit (id 1) has no outcome: it is listed, and available.',
  },
  webhook_not_found: {
    status: 404,
    cause: 'This client has no webhook endpoint with this id.',
    fix: 'List your endpoints with GET /v1/webhooks.',
    code: { send: ['GET /v1/webhooks'] },
    request: 'GET /v1/webhooks/4711',
    message: 'You have no webhook endpoint with id 4711.',
  },
  delivery_not_found: {
    status: 404,
    cause: 'This endpoint has no delivery with this id. Deliveries are deleted after 30 days.',
    fix: 'List the deliveries with GET /v1/webhooks/{webhookId}/deliveries.',
    code: { send: ['GET /v1/webhooks/1/deliveries'] },
    request: 'GET /v1/webhooks/1/deliveries/4711',
    message: 'This endpoint has no delivery with id 4711.',
  },
  method_not_allowed: {
    status: 405,
    cause: 'The path exists but does not support this method.',
    fix: 'Use a method listed in the Allow header.',
    code: { send: ['GET /v1/pets?status=available'] },
    request: 'DELETE /v1/pets',
    message: "DELETE isn't supported here. Allowed: GET, HEAD, POST. Did you mean DELETE /v1/pets/{petId}?",
  },
  request_timeout: {
    status: 408,
    cause: 'The request did not arrive completely in time.',
    fix: 'Send the headers within 5 s and the whole request within 10 s.',
    code: { send: ['GET /v1/pets?status=available'] },
    request: 'GET /v1/pets\n… (and then nothing)',
    message: 'The request did not arrive completely in time.',
  },
  upload_too_slow: {
    status: 408,
    cause: 'The bytes of a photo arrived too slowly: less than 16 kB a second on average after 10 s, or not all within 10 minutes.',
    fix: 'Send the photo over a faster connection, or a smaller photo.',
    code: { send: ['POST /v1/pets/1/photos\n\n(biscuit.jpg)'] },
    request: 'POST /v1/pets/1/photos\nContent-Type: image/jpeg\nContent-Length: 5000000\n… (and then 10 bytes)',
    message: 'Only 10 bytes of the photo arrived in 10 s. Send at least 16 kB a second, and everything within 10 minutes.',
  },
  pet_not_available: {
    status: 409,
    cause: 'The animal is pending or sold: someone else was faster. For an application it may be pending, but not sold.',
    fix: "Show the animal's current status. It may become available again.",
    code: { send: ['GET /v1/pets?id=1'] },
    request: 'POST /v1/store/orders\n\n{"petId":1,"adopter":{"name":"Ada Lovelace","email":"ada@example.org"}}',
    message: 'Biscuit (id 1) is pending. Only an available animal can be ordered.',
  },
  pet_on_hold: {
    status: 409,
    cause:
      'The animal is held: it is not ready to be adopted for a while. Nobody can order it, and staff can make it available only by ending the hold.',
    fix: 'Apply for the animal with POST /v1/applications, or wait until the hold ends. Listings say why the animal is held.',
    code: { send: ['GET /v1/listings?id=1'] },
    request: 'POST /v1/store/orders\n\n{"petId":1,"adopter":{"name":"Ada Lovelace","email":"ada@example.org"}}',
    message:
      "Biscuit (id 1) is on hold (is being treated), so it can't be ordered. Adopters can apply for it with POST /v1/applications, or wait for the event pet.hold_ended.",
  },
  hold_not_found: {
    status: 404,
    cause: 'The animal is not held, or the time of its hold has passed.',
    fix: 'Nothing has to be done. To hold it, send PUT /v1/pets/{petId}/hold.',
    code: { send: ['PUT /v1/pets/1/hold\n\n{"reason":"medical"}'] },
    request: 'GET /v1/pets/1/hold',
    message: 'Animal 1 is not held.',
  },
  orders_by_application: {
    status: 409,
    cause: "The animal's shelter takes applications, and its staff choose among them. Only they and the store's staff place orders.",
    fix: 'Send an application for the adopter with POST /v1/applications. The field adoption of a shelter says which way it takes.',
    code: { send: ['POST /v1/applications\n\n{"petId":1,"adopter":{"name":"Ada Lovelace","email":"ada@example.org"}}'] },
    request: 'POST /v1/store/orders\n\n{"petId":1,"adopter":{"name":"Ada Lovelace","email":"ada@example.org"}}',
    message:
      'Biscuit (id 1) is adopted by application: the staff of shelter 1 choose among those who apply. Send POST /v1/applications in place of an order.',
  },
  open_order_limit: {
    status: 409,
    cause:
      'The client has as many open orders as its plan allows (Free 20, Pro 100, Business 500, Enterprise 10,000 unless agreed otherwise), or already has 3 open orders for the same adopter.',
    fix: 'Wait until the store completes some, or cancel orders that are no longer wanted.',
    code: { send: ['GET /v1/store/orders?status=placed', 'POST /v1/store/orders/1/cancel'] },
    request: 'POST /v1/store/orders\n\n{"petId":4,"adopter":{"name":"Ada Lovelace","email":"ada@example.org"}}',
    message:
      "This client has 3 open orders for this adopter's e-mail address; 3 are allowed. Wait until the store completes some, or cancel orders that are no longer wanted.",
  },
  application_state_conflict: {
    status: 409,
    cause: "The application's current status does not allow this action.",
    fix: 'Read the application again. The message says what can be done with it.',
    code: { send: ['GET /v1/applications/1'] },
    request: 'POST /v1/applications/1/accept',
    message: "Application 1 is declined, so it can't be accepted yet. It can only be reopened.",
  },
  application_exists: {
    status: 409,
    cause: 'This adopter already has an open application for this animal with this client.',
    fix: 'Show the adopter the application that there is. To change it, withdraw it first.',
    code: { send: ['GET /v1/applications?petId=1', 'POST /v1/applications/1/withdraw'] },
    request: 'POST /v1/applications\n\n{"petId":1,"adopter":{"name":"Ada Lovelace","email":"ada@example.org"}}',
    message: "Application 1 of this adopter's e-mail address for Biscuit (id 1) is still open. Withdraw it before you submit another.",
  },
  applications_full: {
    status: 409,
    cause:
      "The animal has as many open applications as its shelter takes (the shelter's applicationsMax), or as many of this client as of one client: where that is 10 or more, a fifth of it, and at least 3, is kept from each client for others. Staff who enter an application have as many places of their own. The message says which.",
    fix: 'Offer another animal. There is room again when staff have declined some, or adopters have withdrawn.',
    code: { send: ['GET /v1/pets?status=available'] },
    request: 'POST /v1/applications\n\n{"petId":1,"adopter":{"name":"Ada Lovelace","email":"ada@example.org"}}',
    message: 'Biscuit (id 1) has 100 open applications; its shelter takes 100. Retry when some have ended, or choose another animal.',
  },
  open_application_limit: {
    status: 409,
    cause:
      'The client has as many open or unconfirmed applications, or has asked as many adopters for confirmation today (UTC), as its plan allows (Free 1,000, Pro 5,000, Business 20,000, Enterprise 100,000), or already has 5 open applications of the same adopter, or 3 unconfirmed ones of the same e-mail address.',
    fix: 'Wait until the store has decided on some, or withdraw applications that are no longer wanted.',
    code: { send: ['GET /v1/applications?status=submitted', 'POST /v1/applications/1/withdraw'] },
    request: 'POST /v1/applications\n\n{"petId":6,"adopter":{"name":"Ada Lovelace","email":"ada@example.org"}}',
    message:
      "This client has 5 open applications of this adopter's e-mail address; 5 are allowed. Wait until the store has decided on some, or withdraw some.",
  },
  pet_has_open_order: {
    status: 409,
    cause: "The animal has an open order, so its status can't be changed and it can't be removed.",
    fix: 'First cancel or complete the order named in the message.',
    code: { send: ['POST /v1/store/orders/1/cancel', 'PATCH /v1/pets/1\n\n{"status":"available"}'] },
    request: 'PATCH /v1/pets/1\n\n{"status":"available"}',
    message: "Biscuit (id 1) is reserved by order 1, so its status can't be set to available. Cancel or complete the order first.",
  },
  pet_is_sold: {
    status: 409,
    cause: 'The animal is sold, so it has been adopted and gets no other outcome.',
    fix: 'If the adopter has brought it back, return its order first. If it was set to sold by mistake, change its status.',
    code: { send: ['PATCH /v1/pets/1\n\n{"status":"pending"}', 'POST /v1/pets/1/outcome\n\n{"type":"transferred"}'] },
    request: 'POST /v1/pets/1/outcome\n\n{"type":"transferred"}',
    message: "Biscuit (id 1) is sold: it was adopted, so it can't get another outcome. If it came back, return its order first.",
  },
  outcome_recorded: {
    status: 409,
    cause: 'Staff have recorded an outcome of this animal already.',
    fix: 'Read it. If it is wrong, undo it and record another one.',
    code: { send: ['GET /v1/pets/1/outcome'] },
    request: 'POST /v1/pets/1/outcome\n\n{"type":"died"}',
    message: 'Biscuit (id 1) has the outcome escaped already. To record another one, undo it first: DELETE /v1/pets/1/outcome',
  },
  outcome_final: {
    status: 409,
    cause: 'The outcome was recorded too long ago to be undone: the photos of the animal are deleted.',
    fix: 'If the animal is back, add it again.',
    code: { send: ['POST /v1/pets\n\n{"name":"Biscuit","categoryId":1,"status":"pending"}'] },
    request: 'DELETE /v1/pets/1/outcome',
    message:
      "The outcome of Biscuit (id 1) was recorded more than 30 days ago, so it can't be undone. If the animal is back, add it again.",
  },
  category_in_use: {
    status: 409,
    cause: 'The category has a name or contains an animal. Removed animals count too.',
    fix: 'Keep the category. Only a category without a name and without animals, such as one registered by mistake, can be removed.',
    code: { send: ['GET /v1/categories'] },
    request: 'DELETE /v1/categories/1',
    message: 'Category 1 is named "Dogs". Only a category without a name and without animals can be removed.',
  },
  external_id_taken: {
    status: 409,
    cause: 'Another animal of the same shelter has this externalId.',
    fix: 'Compare both animals: one may have been added twice. Otherwise change the externalId of one of them.',
    code: { send: ['PATCH /v1/pets/2/profile\n\n{"externalId":"A-4712"}'] },
    request: 'PATCH /v1/pets/2/profile\n\n{"externalId":"A-4711"}',
    message: 'Biscuit (id 1) of shelter 1 already has the externalId "A-4711". Change it there or here first.',
  },
  order_state_conflict: {
    status: 409,
    cause: "The order's current status does not allow this action.",
    fix: 'Read the order again. The message says what can be done with it.',
    code: { send: ['GET /v1/store/orders/1'] },
    request: 'POST /v1/store/orders/1/cancel',
    message: "Order 1 is already completed, so it can't be cancelled. It can only be returned.",
  },
  photos_off: {
    status: 409,
    cause: 'This store is not configured to accept photos.',
    fix: "Ask the store's operators to set HOMEWARD_PHOTOS.",
    code: { report: 'POST /v1/pets/1/photos\n\n(biscuit.jpg)' },
    request: upload,
    message: "This store doesn't accept photos. Ask its operators to set HOMEWARD_PHOTOS.",
  },
  photo_limit_reached: {
    status: 409,
    cause: 'The animal already has 12 photos, which is the maximum.',
    fix: 'Remove a photo that is no longer wanted.',
    code: { send: ['GET /v1/pets/1/photos', 'DELETE /v1/pets/1/photos/1'] },
    request: upload,
    message: 'Animal 1 has 12 photos; 12 are allowed. Remove one first.',
  },
  photo_bytes_limit: {
    status: 409,
    cause: 'The client has already sent as many bytes of photos today (UTC) as its plan allows, or the photo has more than are left.',
    fix: 'Send the photo after midnight UTC, or make it smaller.',
    code: { report: 'POST /v1/pets/1/photos\n\n(biscuit.jpg)' },
    request: upload,
    message:
      'This client has sent 1,000 of 1,000 MB of photos today (UTC), and this one has 1 MB. Send it after midnight UTC, or make it smaller.',
  },
  photo_storage_limit: {
    status: 409,
    cause:
      "The files of the client's photos take as many bytes as its plan allows (Free 2 GB, Pro 20 GB, Business 200 GB, Enterprise 2,000 GB). Those of removed photos count until they are deleted, about a day later.",
    fix: 'Remove photos that are no longer wanted, or ask the store for another plan. GET /v1/usage shows how much is used.',
    code: { send: ['GET /v1/usage'] },
    request: upload,
    message:
      'The photos of this client take 2,000 of 2,000 MB, and this one has 1 MB. Remove photos, whose files are deleted a day later, or ask the store for another plan.',
  },
  photo_storage_full: {
    status: 409,
    cause: 'The store has no room for photos: its disk or bucket is full, or nearly so. Everything else works.',
    fix: "Retry later. The store's operators have to make room.",
    code: { report: 'POST /v1/pets/1/photos\n\n(biscuit.jpg)' },
    request: upload,
    message: 'The store has no room for photos at the moment. Retry later; if it persists, tell the store.',
  },
  too_many_uploads: {
    status: 409,
    cause: 'The client is already sending 2 photos, which is the maximum at a time.',
    fix: 'Send the next photo when one of them is sent.',
    code: { wait: 'POST /v1/pets/1/photos\n\n(biscuit.jpg)' },
    request: upload,
    message: 'This client is already sending 2 photos; 2 at once are allowed. Retry in 1 s.',
  },
  too_many_searches: {
    status: 409,
    cause:
      'The client is already running 2 searches, which is the maximum at a time; after one that took more than 20 ms, there is a pause of up to 250 ms. Searches that others make too, and that are cached, do not count.',
    fix: 'Send the next search when one of them has ended.',
    code: { wait: 'GET /v1/listings?q=labrador' },
    request: 'GET /v1/listings?q=labrador',
    message: 'This client is running 2 searches, or pauses after slow ones; 2 at once are allowed. Retry in 1 s.',
  },
  recorded_change_limit: {
    status: 409,
    cause:
      'The key has made 1,000 changes today (UTC) that the store records for good, such as those of shelters and of their questions. Nobody can delete these records, so their number is limited.',
    fix: 'Make the change after midnight UTC. Collect several changes of a shelter in one request.',
    code: { report: 'PATCH /v1/shelters/1\n\n{"phone":"+43 1 555 01 00"}' },
    request: 'PATCH /v1/shelters/1\n\n{"phone":"+43 1 555 01 00"}',
    message:
      'This key has made 1,000 of 1,000 changes today (UTC) that are recorded for good. Nothing was changed. Go on after midnight UTC.',
  },
  webhook_limit_reached: {
    status: 409,
    cause: 'The client already has 20 webhook endpoints, which is the maximum.',
    fix: 'Remove an endpoint that is no longer used.',
    code: { send: ['GET /v1/webhooks', 'DELETE /v1/webhooks/1'] },
    request: 'POST /v1/webhooks\n\n{"url":"https://example.org/hooks"}',
    message: 'This client has 20 webhook endpoints; 20 are allowed. Remove one first.',
  },
  webhook_disabled: {
    status: 409,
    cause: 'The endpoint is disabled, so nothing is sent to it.',
    fix: "Enable it with PATCH /v1/webhooks/{webhookId} and the status 'enabled'.",
    code: { send: ['PATCH /v1/webhooks/1\n\n{"status":"enabled"}'] },
    request: 'POST /v1/webhooks/1/test',
    message: 'Endpoint 1 is disabled. Enable it first.',
  },
  replay_in_progress: {
    status: 409,
    cause: 'A replay of a period is still in progress for an endpoint of this client. A client has one at a time.',
    fix: 'Retry when it is done: the deliveries of the endpoint show how far it is.',
    code: { send: ['GET /v1/webhooks/1/deliveries?status=pending'] },
    request: 'POST /v1/webhooks/1/replay\n\n{"from":"2026-11-15T08:00:00Z","to":"2030-11-15T12:00:00Z"}',
    message: 'A replay for endpoint 1 is still in progress. Start the next one when it is done.',
  },
  idempotency_in_progress: {
    status: 409,
    cause: 'A request with the same Idempotency-Key is still in progress.',
    fix: 'Retry after the number of seconds in Retry-After. The retry gets the same response as the first request.',
    code: { wait: 'POST /v1/store/orders\n\n{"petId":1,"adopter":{"name":"Ada Lovelace","email":"ada@example.org"}}' },
    request:
      'POST /v1/store/orders\nIdempotency-Key: 6f1c9c1e-6d0c-4b0e-9d3b-3f4b8f2a7c55\n\n{"petId":1,"adopter":{"name":"Ada Lovelace","email":"ada@example.org"}}',
    message: 'A request with this Idempotency-Key is still in progress. Retry in 1 s.',
  },
  cursor_expired: {
    status: 410,
    cause:
      'The cursor has expired: some events after it have been deleted, or its own was lost with a server, so continuing from it would leave a gap.',
    fix: 'List the animals again (GET /v1/pets), then read the feed (GET /v1/events) without a cursor.',
    code: { send: ['GET /v1/pets', 'GET /v1/events'] },
    request: 'GET /v1/events?cursor=LTEuVDFQTm9Zd3I',
    message: 'This cursor has expired: events are kept for 30 days. List /v1/pets again, then read the feed without a cursor.',
  },
  operation_removed: {
    status: 410,
    cause: 'The operation was deprecated, and its removal date has passed.',
    fix: 'Use the replacement named in the message.',
    code: { send: ['GET /v1/pets?id=1'] },
    request: 'GET /v1/pets/1',
    message: 'This operation was removed on 5 December 2030. Use GET /v1/pets?id=1 instead.',
  },
  precondition_failed: {
    status: 412,
    cause: 'The animal, its profile or the shelter has changed since you read the ETag that you sent in If-Match.',
    fix: 'Read it again. If your change still applies, retry with the current ETag.',
    code: { reread: 'PATCH /v1/pets/1/profile\n\n{"description":"Loves long walks."}' },
    request: 'PATCH /v1/pets/1\nIf-Match: "q7yPzvTqVyNqJmJ8yQmQbA"\n\n{"name":"Biscuit II"}',
    message: 'Biscuit (id 1) has changed: its ETag is now "vNUHu7eEM28DXd6lsjm4hP". Read it again before you change it.',
  },
  body_too_large: {
    status: 413,
    cause: 'The body is larger than 1 MiB.',
    fix: 'Send a smaller body.',
    code: { send: ['POST /v1/pets\n\n{"name":"Biscuit","categoryId":1}'] },
    request: 'POST /v1/pets\nContent-Length: 2097152',
    message: 'The body is larger than 1 MiB (1,048,576 bytes).',
  },
  photo_too_large: {
    status: 413,
    cause: 'The photo is larger than 20 MB.',
    fix: 'Send a smaller one. Pictures are shown at most 1,600 pixels wide.',
    code: { send: ['POST /v1/pets/1/photos\n\n(biscuit.jpg)'] },
    request: 'POST /v1/pets/1/photos\nContent-Type: image/jpeg\nContent-Length: 20000001',
    message: 'The photo is larger than 20 MB (20,000,000 bytes). Send a smaller one.',
  },
  unsupported_image: {
    status: 415,
    cause: 'The photo is not a JPEG, PNG or WebP image, by its Content-Type or by its bytes. HEIC and AVIF are not accepted.',
    fix: 'Convert the photo to JPEG, and send its bytes with Content-Type image/jpeg.',
    code: { send: ['POST /v1/pets/1/photos\n\n(biscuit.jpg)'] },
    request: 'POST /v1/pets/1/photos\nContent-Type: image/gif\n\nGIF89a',
    message: 'Send the bytes of the photo with Content-Type image/jpeg, image/png or image/webp. Got "image/gif".',
  },
  unsupported_media_type: {
    status: 415,
    cause: 'The Content-Type is not application/json.',
    fix: "Send 'Content-Type: application/json' and a JSON body.",
    code: { send: ['POST /v1/pets\n\n{"name":"Biscuit","categoryId":1}'] },
    request: 'POST /v1/pets\nContent-Type: text/plain\n\nBiscuit',
    message: 'Send the body as JSON, with \'Content-Type: application/json\'. Got "text/plain".',
  },
  idempotency_key_reused: {
    status: 422,
    cause:
      'The Idempotency-Key was used in the last 24 hours for a request with another method, path or body, or by an API key of another shelter or with other scopes.',
    fix: 'Use a new key for a new request. Use the same key only to retry the same request, with the same API key.',
    code: { send: ['POST /v1/pets\n\n{"name":"Pretzel","categoryId":1}'] },
    request: 'POST /v1/pets\nIdempotency-Key: 6f1c9c1e-6d0c-4b0e-9d3b-3f4b8f2a7c55\n\n{"name":"Pretzel","categoryId":1}',
    message:
      'This Idempotency-Key was used for a request with another method, path or body, or by an API key with other scopes. Use a new key.',
  },
  rate_limit_exceeded: {
    status: 429,
    cause:
      'The client has used all requests that its plan allows in this window, or the address has sent too many requests without a valid key.',
    fix: 'Wait for the number of seconds in Retry-After. After a 429 for the limit per minute, requests before then count towards a temporary ban of the key.',
    code: { wait: 'GET /v1/pets' },
    request: 'GET /v1/pets',
    message:
      '60 of 60 requests used this minute (Free plan). Wait 23 s. If you send 60 more requests before then, this key is banned for 1 minute.',
  },
  api_key_banned: {
    status: 429,
    cause:
      'The key is temporarily banned, because it sent too many requests after a 429 without waiting. Bans last 1, then 5, 15 and 60 minutes.',
    fix: 'Wait for the number of seconds in Retry-After, and honour Retry-After from then on. Requests during the ban do not extend it.',
    code: { wait: 'GET /v1/pets' },
    request: 'GET /v1/pets',
    message:
      'Banned until 10:01:39 UTC: this key sent 30 requests without waiting for Retry-After. Wait 60 s. Requests during the ban do not extend it.',
  },
  headers_too_large: {
    status: 431,
    cause: 'The request line and headers together are larger than 16 KiB.',
    fix: 'Send fewer or smaller headers.',
    code: { send: ['GET /v1/pets?status=available'] },
    request: 'GET /v1/pets\nCookie: session=… (20 kB)',
    message: 'The request line and headers are larger than 16 KiB.',
  },
  internal_error: {
    status: 500,
    cause: 'An unexpected error in the service.',
    fix: 'Retry later. If the error persists, report the X-Request-Id.',
    code: { report: 'GET /v1/categories' },
    request: 'GET /v1/categories',
    message: 'Something went wrong on our side. Retry later; if the error persists, report the X-Request-Id.',
  },
  unavailable: {
    status: 503,
    cause: 'The service cannot reach its database, or is overloaded. Or the database did not confirm a write, as the message then says.',
    fix: 'Retry after the number of seconds in Retry-After. A write that was not confirmed may have been done: retry it with the same Idempotency-Key; without one, look first.',
    code: { wait: 'GET /v1/pets' },
    request: 'GET /v1/pets',
    message: 'The database is unreachable or overloaded. Retry in 1 s.',
  },
} as const satisfies Record<string, ErrorHelp>;

/** What the help page of a code shows. A code without an example does not compile, and a test sends each example. */
interface ErrorHelp {
  readonly status: number;
  readonly cause: string;
  readonly fix: string;
  /** The fix as a program, which the page shows in three languages. Tests run it after the error. */
  readonly code: FixInCode;
  /** An example: method and path, extra headers, then an empty line and the body. A valid key is added, unless the code is about the key. */
  readonly request: string;
  /** What the example gets. */
  readonly message: string;
}

/** Requests are written as the example is, with the name of a file in brackets for its bytes. */
export type FixInCode =
  /** Requests that are right, one after the other. */
  | { readonly send: readonly string[] }
  /** The same request again, after the seconds in Retry-After. */
  | { readonly wait: string }
  /** Nothing that a program can do: it shows the message and the X-Request-Id, for a person to act on. */
  | { readonly report: string }
  /** What is changed is read again, and changed if it is still as read. */
  | { readonly reread: string };

export type ErrorCode = keyof typeof errorCodes;

/** The only error type that operations throw. `message` is for the caller, `cause` for the log. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ErrorCode, message: string, options: { cause?: unknown; headers?: Record<string, string> } = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    this.name = 'AppError';
    this.code = code;
    this.headers = options.headers ?? {};
  }

  get status(): number {
    return errorCodes[this.code].status;
  }
}

/** 503, with the wait of a second that its message must name too. */
export function retryLater(message: string, cause?: unknown): AppError {
  return new AppError('unavailable', message, { cause, headers: { 'retry-after': '1' } });
}

export function unavailable(cause: unknown): AppError {
  return retryLater('The database is unreachable or overloaded. Retry in 1 s.', cause);
}

/** It is not known whether a write has been done: PostgreSQL may have committed it, and may still lose it. */
export function outcomeUnknown(cause: unknown): AppError {
  const message =
    'The database did not confirm this write, so it may have been done or not. Retry in 1 s with the same Idempotency-Key; without one, look first whether it was done.';
  return retryLater(message, cause);
}

export function internalError(cause: unknown): AppError {
  const message = 'Something went wrong on our side. Retry later; if the error persists, report the X-Request-Id.';
  return new AppError('internal_error', message, { cause });
}

/** Formats a received value for a message: as JSON, truncated, so that the message stays short. */
export function show(value: unknown): string {
  if (typeof value === 'number' && !Number.isFinite(value)) return 'a number that is too large or too precise';
  const text = typeof value === 'bigint' ? String(value) : printableJson(JSON.stringify(value, bigintAsText) ?? 'nothing');
  // Not half of a character.
  return text.length > 60 ? `${text.slice(0, 60).replace(/[\ud800-\udbff]$/, '')}…` : text;
}

const bigintAsText = (_: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);
