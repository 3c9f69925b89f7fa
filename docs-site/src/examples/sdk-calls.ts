export interface SdkCall {
  /** The function of a `store`. */
  readonly call: string;
  /** The function of what `call` returns for the path's parameters, if that sends the request. */
  readonly method?: string;
  /** The variable for the result, in every language. Undefined if there is none. */
  readonly result?: string;
  /** How the result is read, if it is not what the function returns. */
  readonly read?: 'page of list' | 'page';
  readonly comment?: string;
  /** The function takes this field of the body instead of the body. */
  readonly field?: string;
}

/** How the SDK calls each operation. */
const sdkCalls: Readonly<Record<string, SdkCall>> = {
  listPets: { call: 'pets.list', result: 'pets', read: 'page of list' },
  createPet: { call: 'pets.add', result: 'pet' },
  getPet: { call: 'pets.get', result: 'pet', comment: 'Deprecated: use store.pets.find(1).' },
  updatePet: { call: 'pets.update', result: 'pet' },
  removePet: { call: 'pets.remove' },
  getHold: { call: 'pets.getHold', result: 'hold' },
  putHold: { call: 'pets.hold', result: 'hold' },
  endHold: { call: 'pets.endHold' },
  recordOutcome: { call: 'pets.outcome', method: 'record', result: 'outcome', field: 'type' },
  getOutcome: { call: 'pets.outcome', method: 'get', result: 'outcome' },
  undoOutcome: { call: 'pets.outcome', method: 'undo', result: 'pet' },
  movePet: { call: 'pets.move', result: 'moved' },
  listShelters: { call: 'shelters.list', result: 'shelters', read: 'page of list' },
  createShelter: { call: 'shelters.create', result: 'shelter' },
  getShelter: { call: 'shelters.get', result: 'shelter' },
  updateShelter: { call: 'shelters.update', result: 'shelter' },
  getShelterQuestions: { call: 'shelters.questions', result: 'asked' },
  setShelterQuestions: { call: 'shelters.setQuestions', result: 'asked' },
  getSiteSettings: { call: 'site.get', result: 'settings' },
  updateSiteSettings: { call: 'site.update', result: 'settings' },
  getProfile: { call: 'pets.profile', method: 'get', result: 'profile' },
  putProfile: { call: 'pets.profile', method: 'put', result: 'profile' },
  patchProfile: { call: 'pets.profile', method: 'patch', result: 'profile' },
  listListings: { call: 'listings.search', result: 'listings', read: 'page of list' },
  listListingFacets: { call: 'listings.facets', result: 'facets' },
  listPhotos: { call: 'pets.photos.list', result: 'photos' },
  getPhoto: { call: 'pets.photos.get', result: 'photo' },
  addPhoto: { call: 'pets.photos.add', result: 'photo' },
  updatePhoto: { call: 'pets.photos.update', result: 'photo' },
  removePhoto: { call: 'pets.photos.remove' },
  listCategories: { call: 'categories.list', result: 'categories', read: 'page of list' },
  putCategory: { call: 'categories.name', result: 'category', field: 'name' },
  removeCategory: { call: 'categories.remove' },
  listEvents: { call: 'events.page', result: 'events', read: 'page', comment: 'To get events as they happen: store.events.follow().' },
  listOrders: { call: 'orders.list', result: 'orders', read: 'page of list' },
  placeOrder: { call: 'orders.place', result: 'order' },
  getOrder: { call: 'orders.get', result: 'order' },
  approveOrder: { call: 'orders.approve', result: 'order' },
  completeOrder: { call: 'orders.complete', result: 'order' },
  cancelOrder: { call: 'orders.cancel', result: 'order' },
  returnOrder: { call: 'orders.return', result: 'order' },
  listApplications: { call: 'applications.list', result: 'applications', read: 'page of list' },
  submitApplication: { call: 'applications.submit', result: 'application' },
  getApplication: { call: 'applications.get', result: 'application' },
  noteApplication: { call: 'applications.note', result: 'application', field: 'note' },
  removeApplication: { call: 'applications.remove' },
  reviewApplication: { call: 'applications.review', result: 'application' },
  acceptApplication: { call: 'applications.accept', result: 'application' },
  declineApplication: { call: 'applications.decline', result: 'application' },
  reopenApplication: { call: 'applications.reopen', result: 'application' },
  withdrawApplication: { call: 'applications.withdraw', result: 'application' },
  listWebhooks: { call: 'webhooks.list', result: 'webhooks', read: 'page of list' },
  createWebhook: { call: 'webhooks.add', result: 'webhook' },
  getWebhook: { call: 'webhooks.get', result: 'webhook' },
  updateWebhook: { call: 'webhooks.update', result: 'webhook' },
  removeWebhook: { call: 'webhooks.remove' },
  rotateWebhookSecret: { call: 'webhooks.rotateSecret', result: 'webhook' },
  testWebhook: { call: 'webhooks.test', result: 'delivery' },
  listDeliveries: { call: 'webhooks.deliveries', result: 'deliveries', read: 'page of list' },
  getDelivery: { call: 'webhooks.delivery', result: 'delivery' },
  replayWebhook: { call: 'webhooks.replay', result: 'replayed' },
  getUsage: { call: 'usage', result: 'usage' },
};

export function sdkCallOf(operationId: string): SdkCall {
  const call = sdkCalls[operationId];
  if (!call) throw new Error(`The SDK's call of ${operationId} is missing in docs-site/src/examples/sdk-calls.ts.`);
  return call;
}
