import type { IconName } from './icons.ts';

export interface Guide {
  /** The file is docs/guides/<slug>.md, the page is /docs/<slug>. */
  readonly slug: string;
  readonly title: string;
  readonly icon: IconName;
  /** One sentence, for the start page and llms.txt. */
  readonly summary: string;
}

/** Every guide, in reading order. */
export const guides: readonly Guide[] = [
  { slug: 'quickstart', icon: 'start', title: 'Quickstart', summary: 'From an API key to a working list of animals in five minutes.' },
  {
    slug: 'sdk',
    icon: 'box',
    title: 'The client',
    summary: '@homeward/sdk for JavaScript and TypeScript: it follows pages, honours Retry-After, and retries safely.',
  },
  {
    slug: 'paging',
    icon: 'pages',
    title: 'Paging',
    summary: 'Read every animal exactly once, and check cheaply whether anything has changed.',
  },
  {
    slug: 'listings',
    icon: 'search',
    title: 'Listings',
    summary: 'Search for animals by words, filters and distance, with their profiles, photos and shelters.',
  },
  {
    slug: 'limits',
    icon: 'gauge',
    title: 'Limits',
    summary: 'How many requests your plan allows, and what happens when you exceed the limit.',
  },
  {
    slug: 'profiles',
    icon: 'heart',
    title: 'Profiles',
    summary: 'Describe an animal: its story, breed, age, size and temperament.',
  },
  { slug: 'photos', icon: 'photo', title: 'Photos', summary: 'Add photos of an animal, and show them in the right size.' },
  { slug: 'orders', icon: 'home', title: 'Orders', summary: 'Place an order for an adopter, and follow it until the animal goes home.' },
  {
    slug: 'applications',
    icon: 'home',
    title: 'Applications',
    summary: 'Let many adopters apply for an animal, and follow what staff decide.',
  },
  { slug: 'shelters', icon: 'home', title: 'Shelters', summary: "Add a shelter's animals, and decide on the orders for them." },
  { slug: 'events', icon: 'feed', title: 'Events', summary: 'Read every change from a feed, in pages or as a stream.' },
  { slug: 'webhooks', icon: 'send', title: 'Webhooks', summary: 'Receive changes at a URL of yours, signed and in order.' },
  {
    slug: 'stability',
    icon: 'shield',
    title: 'Stability and deprecations',
    summary: 'What is stable, what may still change, and what will be removed when.',
  },
  { slug: 'rehearsal', icon: 'flask', title: 'Rehearsal', summary: 'Try a removal, a 429 or an outage on staging before it happens.' },
];
