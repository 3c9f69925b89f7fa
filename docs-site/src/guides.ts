export interface Guide {
  /** The file is docs/guides/<slug>.md, the page is /docs/<slug>. */
  readonly slug: string;
  readonly title: string;
  /** One sentence, for the start page and llms.txt. */
  readonly summary: string;
}

/** Every guide, in reading order. */
export const guides: readonly Guide[] = [
  { slug: 'quickstart', title: 'Quickstart', summary: 'From an API key to a working list of animals in five minutes.' },
  {
    slug: 'sdk',
    title: 'The client',
    summary: '@homeward/sdk for JavaScript and TypeScript: it follows pages, honours Retry-After, and retries safely.',
  },
  { slug: 'paging', title: 'Paging', summary: 'Read every animal exactly once, and check cheaply whether anything has changed.' },
  { slug: 'limits', title: 'Limits', summary: 'How many requests your plan allows, and what happens when you exceed the limit.' },
  { slug: 'orders', title: 'Orders', summary: 'Place an order for an adopter, and follow it until the animal goes home.' },
  { slug: 'events', title: 'Events', summary: 'Read every change from a feed, in pages or as a stream.' },
  { slug: 'webhooks', title: 'Webhooks', summary: 'Receive changes at a URL of yours, signed and in order.' },
  {
    slug: 'stability',
    title: 'Stability and deprecations',
    summary: 'What is stable, what may still change, and what will be removed when.',
  },
  { slug: 'rehearsal', title: 'Rehearsal', summary: 'Try a removal, a 429 or an outage on staging before it happens.' },
];
