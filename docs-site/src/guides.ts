import type { IconName } from './icons.ts';

export interface Guide {
  /** The file is docs/guides/<slug>.md, the page is /docs/<slug>. */
  readonly slug: string;
  readonly title: string;
  readonly icon: IconName;
  /** One sentence, for the start page and llms.txt. */
  readonly summary: string;
}

export interface GuideGroup {
  readonly title: string;
  readonly guides: readonly Guide[];
}

/** Every guide, in reading order: for the navigation, the start page, llms.txt and README.md. */
export const guideGroups: readonly GuideGroup[] = [
  {
    title: 'Start',
    guides: [
      { slug: 'quickstart', icon: 'start', title: 'Quickstart', summary: 'From an API key to a working list of animals in five minutes.' },
      {
        slug: 'sdk',
        icon: 'box',
        title: 'The client',
        summary: '@homeward/sdk for JavaScript and TypeScript: it follows pages, honours Retry-After, and retries safely.',
      },
    ],
  },
  {
    title: 'Animals',
    guides: [
      {
        slug: 'listings',
        icon: 'search',
        title: 'Listings',
        summary: 'Search for animals by words, filters and distance, with their profiles, photos and shelters.',
      },
      {
        slug: 'profiles',
        icon: 'heart',
        title: 'Profiles',
        summary: 'Describe an animal: its story, breed, age, size and temperament.',
      },
      { slug: 'photos', icon: 'photo', title: 'Photos', summary: 'Add photos of an animal, and show them in the right size.' },
      {
        slug: 'paging',
        icon: 'pages',
        title: 'Paging',
        summary: 'Read every animal exactly once, and check cheaply whether anything has changed.',
      },
    ],
  },
  {
    title: 'Adoption',
    guides: [
      {
        slug: 'orders',
        icon: 'home',
        title: 'Orders',
        summary: 'Place an order for an adopter, and follow it until the animal goes home.',
      },
      {
        slug: 'applications',
        icon: 'people',
        title: 'Applications',
        summary: 'Let many adopters apply for an animal, and follow what staff decide.',
      },
      { slug: 'shelters', icon: 'place', title: 'Shelters', summary: "Add a shelter's animals, and decide on the orders for them." },
      {
        slug: 'holds',
        icon: 'clock',
        title: 'Holds and outcomes',
        summary: 'When an animal is ill or a stray, or has left: what to record, and what staff and partners see.',
      },
    ],
  },
  {
    title: 'For shelters',
    guides: [
      {
        slug: 'first-day',
        icon: 'paw',
        title: 'The first day of a shelter',
        summary: 'For staff, without training: sign in, add animals and photos, choose an adopter and hand over.',
      },
    ],
  },
  {
    title: 'Changes',
    guides: [
      { slug: 'events', icon: 'feed', title: 'Events', summary: 'Read every change from a feed, in pages or as a stream.' },
      { slug: 'webhooks', icon: 'send', title: 'Webhooks', summary: 'Receive changes at a URL of yours, signed and in order.' },
    ],
  },
  {
    title: 'Running well',
    guides: [
      {
        slug: 'limits',
        icon: 'gauge',
        title: 'Limits',
        summary: 'How many requests your plan allows, and what happens when you exceed the limit.',
      },
      { slug: 'rehearsal', icon: 'flask', title: 'Rehearsal', summary: 'Try a removal, a 429 or an outage on staging before it happens.' },
      {
        slug: 'stability',
        icon: 'shield',
        title: 'Stability and deprecations',
        summary: 'What is stable, what may still change, and what will be removed when.',
      },
    ],
  },
];

export const guides: readonly Guide[] = guideGroups.flatMap((group) => group.guides);
