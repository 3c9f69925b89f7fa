// What other APIs call the things of this one. An error names ours when it receives theirs.

interface UsualName {
  /** Compared without case, underscores, hyphens and dots: `per_page` is also `perPage`. */
  readonly usual: readonly string[];
  /** What to know before it is used in place of the usual one. */
  readonly note?: string;
}

export type UsualNames = Readonly<Record<string, UsualName>>;

/** By the name of our parameter or field. A row holds only where an operation takes it. */
export const usualFields: UsualNames = {
  limit: { usual: ['per_page', 'page_size', 'page_limit', 'count', 'max', 'max_results', 'num', 'rows', 'take', 'top', 'first'] },
  cursor: {
    usual: [
      'page',
      'page_number',
      'p',
      'offset',
      'skip',
      'start',
      'starting_after',
      'after',
      'since_id',
      'page_token',
      'next',
      'next_token',
    ],
    note: 'There are no page numbers: follow the Link header of the previous page, which has the cursor.',
  },
  categoryId: {
    usual: ['category', 'category_name', 'type', 'type_id', 'animal_type', 'pet_type', 'species', 'species_id', 'kind', 'animal'],
    note: 'GET /v1/categories lists the ids.',
  },
  petId: { usual: ['pet', 'animal', 'animal_id'] },
  shelterId: { usual: ['shelter', 'organization', 'organization_id', 'organisation', 'org', 'org_id', 'rescue', 'rescue_id'] },
  id: { usual: ['ids', 'pet_id', 'pet_ids', 'animal_id', 'animal_ids'] },
  status: { usual: ['state', 'availability', 'adoption_status', 'pet_status'] },
  q: { usual: ['query', 'search', 'term', 'text', 'keyword', 'keywords', 'filter', 'name'] },
  sort: { usual: ['sort_by', 'order', 'order_by', 'ordering', 'direction'] },
  breed: { usual: ['breeds', 'breed_id', 'breed_name', 'primary_breed'] },
  age: { usual: ['age_group', 'life_stage'] },
  sex: { usual: ['gender'] },
  goodWith: {
    usual: ['good_with_children', 'good_with_kids', 'good_with_dogs', 'good_with_cats', 'compatible_with'],
    note: 'Its values are children, dogs and cats.',
  },
  near: {
    usual: ['location', 'lat', 'lng', 'lon', 'latitude', 'longitude', 'lat_lng', 'latlon', 'geo', 'coordinates', 'position'],
    note: 'It is a latitude and a longitude: near=48.2,16.37.',
  },
  withinKm: { usual: ['distance', 'radius', 'within', 'max_distance', 'km', 'miles'] },
  from: { usual: ['since', 'start_date', 'start_time', 'begin'] },
  to: { usual: ['until', 'end_date', 'end_time', 'end'] },
  name: { usual: ['title', 'pet_name', 'animal_name', 'full_name', 'display_name', 'first_name'] },
  email: { usual: ['mail', 'email_address', 'contact_email'] },
  adopter: { usual: ['customer', 'user', 'buyer', 'applicant', 'person', 'contact'] },
  description: { usual: ['bio', 'story', 'about', 'notes'] },
  birthDate: { usual: ['dob', 'born', 'birthday', 'date_of_birth'] },
  weightGrams: { usual: ['weight', 'weight_kg', 'mass'], note: 'It is in grams.' },
  colors: { usual: ['color', 'colour', 'colours'] },
  spayedNeutered: { usual: ['spayed', 'neutered', 'fixed', 'altered', 'sterilized', 'desexed'] },
  houseTrained: { usual: ['housebroken', 'potty_trained', 'trained'] },
  adoptionFee: { usual: ['fee', 'price', 'cost'] },
  videoUrl: { usual: ['video', 'videos'] },
  externalId: { usual: ['reference', 'external_reference', 'sku', 'tag_number'] },
  primary: { usual: ['main', 'first'] },
  children: { usual: ['kids', 'child'] },
  phone: { usual: ['telephone', 'tel', 'phone_number', 'mobile'] },
  website: { usual: ['site', 'homepage', 'web', 'url'] },
  url: {
    usual: ['callback', 'callback_url', 'webhook_url', 'hook_url', 'endpoint', 'endpoint_url', 'target', 'target_url', 'uri', 'link'],
  },
  types: { usual: ['events', 'event', 'event_types', 'enabled_events', 'topics', 'triggers'] },
  type: { usual: ['event', 'event_type', 'events', 'types'] },
  alt: { usual: ['alt_text', 'caption', 'title'] },
};

/** By the value of ours. A row holds only where it is one of the values of a field. */
export const usualValues: UsualNames = {
  available: { usual: ['adoptable', 'open', 'active', 'free', 'listed', 'in_stock'] },
  pending: { usual: ['reserved', 'on_hold', 'hold', 'held', 'in_progress', 'promised', 'waiting', 'processing'] },
  sold: { usual: ['adopted', 'rehomed', 'homed', 'taken', 'gone', 'placed', 'unavailable', 'archived'] },
  placed: { usual: ['new', 'open', 'pending', 'created', 'submitted'] },
  approved: { usual: ['accepted', 'confirmed'] },
  completed: { usual: ['done', 'delivered', 'fulfilled', 'closed', 'adopted', 'sold', 'shipped'] },
  cancelled: { usual: ['declined', 'rejected', 'deleted', 'void'] },
  male: { usual: ['m', 'boy'] },
  female: { usual: ['f', 'girl'] },
  yes: { usual: ['true', 'y', '1'] },
  no: { usual: ['false', 'n', '0'] },
  baby: { usual: ['puppy', 'kitten', 'infant', 'newborn'] },
  young: { usual: ['juvenile', 'junior', 'adolescent'] },
  senior: { usual: ['old', 'elderly'] },
  small: { usual: ['s', 'little', 'tiny'] },
  medium: { usual: ['m', 'mid'] },
  large: { usual: ['l', 'big'] },
  extra_large: { usual: ['xl', 'xlarge', 'huge', 'giant'] },
  children: { usual: ['kids', 'child'] },
  medical: { usual: ['ill', 'sick', 'health', 'treatment', 'vet'] },
  stray: { usual: ['found', 'stray_hold', 'stray_wait'] },
  behaviour: { usual: ['behavior', 'training', 'behavioural'] },
  // In searches, which say no more.
  other: { usual: ['behaviour'] },
  transferred: { usual: ['transfer', 'transfer_out', 'moved'] },
  returned_to_owner: { usual: ['reclaimed', 'rto', 'owner', 'reunited'] },
  died: { usual: ['dead', 'death', 'deceased', 'passed_away'] },
  euthanised: { usual: ['euthanized', 'euthanasia', 'put_to_sleep'] },
  escaped: { usual: ['lost', 'missing', 'stolen'] },
  newest: { usual: ['recent', 'latest', 'date', 'created', 'created_at', 'desc'] },
  distance: { usual: ['nearest', 'near', 'proximity', 'location'] },
  relevance: { usual: ['score', 'best', 'best_match', 'rank'] },
};

/** By the part of our paths. It may be several segments, which then take the place of one. */
export const usualPathParts: UsualNames = {
  pets: { usual: ['animal', 'animals', 'dog', 'dogs', 'cat', 'cats', 'products', 'items'] },
  listings: { usual: ['search', 'adoptable', 'find'] },
  shelters: { usual: ['organization', 'organizations', 'organisation', 'organisations', 'orgs', 'rescues', 'locations'] },
  categories: { usual: ['category', 'type', 'types', 'species', 'kinds', 'animal_types', 'pet_types', 'breeds'] },
  photos: { usual: ['image', 'images', 'picture', 'pictures', 'media', 'upload_image'] },
  profile: { usual: ['details', 'description', 'info', 'attributes'] },
  'store/orders': { usual: ['order', 'orders', 'adoption', 'adoptions', 'reservation', 'reservations', 'booking', 'bookings'] },
  applications: { usual: ['adoption_applications', 'inquiry', 'inquiries', 'enquiries'] },
  events: { usual: ['changes', 'feed', 'activity', 'stream', 'updates', 'notifications'] },
  webhooks: { usual: ['hooks', 'callbacks', 'webhook_endpoints', 'subscriptions', 'repository_hooks'] },
  usage: { usual: ['quota', 'limits', 'rate_limit', 'stats', 'me', 'account'] },
  complete: { usual: ['finish', 'fulfil', 'fulfill', 'close'] },
  approve: { usual: ['accept', 'confirm', 'capture'] },
  accept: { usual: ['approve', 'confirm'] },
  cancel: { usual: ['delete', 'remove', 'void', 'abort', 'decline', 'reject'] },
  withdraw: { usual: ['cancel', 'delete'] },
  decline: { usual: ['reject', 'deny'] },
};

/** Headers that other APIs take a key in, in lower case, and query parameters. */
export const usualKeyHeaders = [
  'x-api-key',
  'x-apikey',
  'x-api-token',
  'x-auth-token',
  'x-auth-key',
  'x-access-token',
  'x-authorization',
  'x-homeward-key',
  'api-key',
  'api_key',
  'apikey',
  'api-token',
  'access-token',
  'auth-token',
  'authentication',
  'token',
] as const;
export const usualKeyParameters = [
  'api_key',
  'apikey',
  'api-key',
  'key',
  'api_token',
  'access_token',
  'auth_token',
  'token',
  'auth',
] as const;

/** Schemes of the Authorization header that people try. Others are not named in an error: they might be part of a secret. */
export const usualSchemes = ['Basic', 'Token', 'ApiKey', 'Api-Key', 'X-Api-Key', 'Key', 'Digest', 'JWT', 'OAuth', 'Negotiate'] as const;
