export interface Guide {
  /** Its file is docs/guides/<slug>.md, its page /docs/<slug>. */
  readonly slug: string;
  readonly title: string;
  /** One sentence, for the start page and llms.txt. */
  readonly summary: string;
}

/** Every guide, in the order in which they are read. */
export const guides: readonly Guide[] = [
  { slug: 'quickstart', title: 'Quickstart', summary: 'From a key to a running listing, in five minutes.' },
  {
    slug: 'sdk',
    title: 'The client',
    summary: '@homeward/sdk for JavaScript and TypeScript: it follows pages, waits when told to, and repeats safely.',
  },
  { slug: 'paging', title: 'Paging', summary: 'Walk through every animal exactly once, and ask cheaply whether something has changed.' },
  { slug: 'limits', title: 'Limits', summary: 'How many requests your plan allows, and what happens beyond.' },
  { slug: 'orders', title: 'Orders', summary: 'From an adopter’s wish to an animal that goes home.' },
  { slug: 'events', title: 'Events', summary: 'Learn of every change from a feed, in pages or as a stream.' },
  { slug: 'webhooks', title: 'Webhooks', summary: 'Let changes come to an address of yours, signed and in order.' },
  {
    slug: 'stability',
    title: 'Stability and deprecations',
    summary: 'What you can build on, what may still change, and what goes away when.',
  },
  { slug: 'rehearsal', title: 'Rehearsal', summary: 'Meet a removal, a 429 or an outage on staging before it is real.' },
];
