export const photoBytes = 2_000_000;

/** More than the kernel buffers for a connection on loopback. */
const bytesOfSocket = 8_000_000;
/** Requests at once on a connection: a few less than may wait for an earlier one. */
const requestsMax = 40;

/** A kind of response, and requests for it on one connection. Short responses wait behind photos, which fill what the kernel buffers. */
export interface Kind {
  readonly name: string;
  /** No response follows it on its connection. */
  readonly isLast?: boolean;
  requests(key: string): string;
}

export function kindsOf({ petId, photoHash }: { petId: number; photoHash: string }): Kind[] {
  const photo = `/photos/${photoHash}.webp`;
  const behindPhotos = (name: string, target: string, options: Options = {}): Kind => ({
    name,
    requests: (key) => request(key, photo).repeat(bytesOfSocket / photoBytes) + request(key, target, options).repeat(requestsMax),
  });
  const large = (name: string, target: string, bytes: number, options: Options = {}): Kind => ({
    name,
    requests: (key) => request(key, target, options).repeat(Math.min(Math.ceil(bytesOfSocket / bytes), requestsMax)),
  });
  return [
    large('a page of listings', '/v1/listings?limit=100', 1_000_000),
    large('a compressed page of listings', '/v1/listings?limit=100', 250_000, { headers: 'accept-encoding: gzip\r\n' }),
    large('a page of listings that others have not read', '/v1/listings?limit=41', 900_000),
    large('a photo', photo, photoBytes),
    {
      ...large('a stream of events', '/v1/events?type=pet.removed', bytesOfSocket, { headers: 'accept: text/event-stream\r\n' }),
      isLast: true,
    },
    behindPhotos('a page of animals', '/v1/pets?limit=100'),
    behindPhotos('a profile', `/v1/pets/${petId}/profile`),
    behindPhotos('/openapi.json', '/openapi.json'),
    behindPhotos('a page of the documentation', '/docs/webhooks'),
    behindPhotos('a file of the SDK', '/sdk/sdk.tgz'),
    behindPhotos('an error', '/v1/pets/none'),
    behindPhotos('headers alone', '/openapi.json', { method: 'HEAD' }),
    behindPhotos('304', '/openapi.json', { headers: 'if-none-match: *\r\n' }),
    { name: 'an error on the bare connection', isLast: true, requests: (key) => `${request(key, photo).repeat(3)}GET / HTTP/9.9\r\n\r\n` },
    {
      name: 'a rejected upload',
      isLast: true,
      requests: (key) =>
        request(key, photo).repeat(3) +
        request(key, `/v1/pets/${petId}/photos`, { method: 'POST', headers: 'content-type: image/jpeg\r\ncontent-length: 99000000\r\n' }),
    },
  ];
}

interface Options {
  readonly method?: string;
  readonly headers?: string;
}

const request = (key: string, target: string, { method = 'GET', headers = '' }: Options = {}) =>
  `${method} ${target} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${key}\r\n${headers}\r\n`;
