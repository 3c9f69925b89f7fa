import type { StoredProfile } from '../../domain/profile-fields.ts';

interface Described {
  readonly profile: StoredProfile;
  /** Photos that are shown, or soon will be. */
  readonly photos: number;
}

interface Gap {
  /** What is missing, as part of a sentence. */
  readonly what: string;
  /** Where it is added, below the page of the animal. */
  readonly where: 'photos' | 'profile';
  readonly isMissing: (described: Described) => boolean;
}

/** What adopters look for first, in the order of its worth to them. */
const gaps: readonly Gap[] = [
  { what: 'a photo', where: 'photos', isMissing: ({ photos }) => photos === 0 },
  { what: 'a description', where: 'profile', isMissing: ({ profile }) => profile.description === null },
  { what: 'the age', where: 'profile', isMissing: ({ profile }) => profile.birthDate === null },
  { what: 'the sex', where: 'profile', isMissing: ({ profile }) => profile.sex === 'unknown' },
  { what: 'the size', where: 'profile', isMissing: ({ profile }) => profile.size === null },
  {
    what: 'the breed',
    where: 'profile',
    isMissing: ({ profile: { breeds } }) => breeds.primary === null && breeds.secondary === null && breeds.mixed !== 'yes',
  },
  {
    what: 'who it is good with',
    where: 'profile',
    isMissing: ({ profile }) => Object.values(profile.goodWith).every((known) => known === 'unknown'),
  },
];

export const gapsOf = (described: Described): readonly Gap[] => gaps.filter(({ isMissing }) => isMissing(described));
