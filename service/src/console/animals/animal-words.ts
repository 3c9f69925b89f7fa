import type { HoldReason } from '../../domain/holds.ts';
import type { OutcomeType } from '../../domain/outcomes.ts';
import type { PetStatus } from '../../domain/pet-statuses.ts';
import type { StoredProfile } from '../../domain/profile-fields.ts';
import { type Html, html } from '../../platform/html.ts';
import type { StaffAnimal } from '../../search/listings/staff-list.ts';

/** How the console writes what the store has as codes. A missing row does not compile. */
export const statusWords: Readonly<Record<PetStatus, StatusWords>> = {
  available: { name: 'Available', tone: 'good', verb: 'Make available', meaning: 'Adopters find it, and it can be adopted.' },
  pending: { name: 'Pending', tone: 'warn', verb: 'Set to pending', meaning: 'Adopters find it, and nobody can order it.' },
  sold: { name: 'Adopted', tone: 'ended', verb: 'Mark as adopted', meaning: 'It has a home.' },
};

interface StatusWords {
  readonly name: string;
  readonly tone: string;
  readonly verb: string;
  readonly meaning: string;
}

export const holdWords: Readonly<Record<HoldReason, { readonly name: string; readonly hint: string }>> = {
  medical: { name: 'Medical', hint: 'It is ill or hurt, or waits for an operation.' },
  stray: { name: 'Stray', hint: 'It was found, and its owner may still come for it.' },
  behaviour: { name: 'Behaviour', hint: 'It is being trained or assessed. Adopters only read that it is not ready yet.' },
  trial: { name: 'On trial', hint: 'It is trying a home.' },
  other: { name: 'Other', hint: 'Anything else. Adopters read that it is not ready yet.' },
};

/** `did` follows the name of the animal. */
export const outcomeWords: Readonly<Record<OutcomeType, { readonly name: string; readonly did: string; readonly hint?: string }>> = {
  transferred: { name: 'Transferred', did: 'was transferred', hint: 'Another shelter or rescue has taken it over.' },
  returned_to_owner: { name: 'Back with its owner', did: 'is back with its owner' },
  died: { name: 'Died', did: 'has died' },
  euthanised: { name: 'Put to sleep', did: 'was put to sleep' },
  escaped: { name: 'Escaped', did: 'has escaped', hint: 'It has run away, or was stolen.' },
  other: { name: 'Something else', did: 'has left' },
};

type Choices = { readonly [Name in 'sex' | 'size' | 'coat']: Readonly<Record<NonNullable<StoredProfile[Name]>, string>> };

export const choiceWords: Choices = {
  sex: { male: 'Male', female: 'Female', unknown: 'Not known' },
  size: { small: 'Small', medium: 'Medium', large: 'Large', extra_large: 'Extra large' },
  coat: { hairless: 'Hairless', short: 'Short', medium: 'Medium', long: 'Long', wire: 'Wire', curly: 'Curly' },
};

export const triWords = { yes: 'Yes', no: 'No', unknown: 'Not known' } as const;

export const choicesOf = <Value extends string>(words: Readonly<Record<Value, string>>): Array<{ value: Value; label: string }> =>
  Object.entries<string>(words).map(([value, label]) => ({ value: value as Value, label }));

/** The status, or that it is held. */
export const stateLabel = ({ status, hold }: Pick<StaffAnimal, 'status' | 'hold'>): Html =>
  hold
    ? html`<span class="label info">On hold: ${holdWords[hold.reason].name.toLowerCase()}</span>`
    : html`<span class="label ${statusWords[status].tone}">${statusWords[status].name}</span>`;

export const categoryName = ({ category, categoryId }: Pick<StaffAnimal, 'category' | 'categoryId'>): string =>
  category ?? `Category ${categoryId}`;

/** Retriever, mixed with Poodle. */
export function breedText({ breeds: { primary, secondary, mixed } }: Pick<StoredProfile, 'breeds'>): string | undefined {
  const [first, second] = [primary ?? secondary, primary === null ? null : secondary];
  if (first === null) return mixed === 'yes' ? 'Mixed breed' : undefined;
  return `${first}${second === null ? '' : `, ${second}`}${mixed === 'yes' ? ', mixed' : ''}`;
}

export const count = (number: number, what: string): string => `${number.toLocaleString('en')} ${what}${number === 1 ? '' : 's'}`;

/** Children and dogs; not cats. Undefined: nothing is known. */
export function goodWithText({ goodWith }: Pick<StoredProfile, 'goodWith'>): string | undefined {
  const named = (wanted: 'yes' | 'no') => Object.entries(goodWith).flatMap(([companion, given]) => (given === wanted ? companion : []));
  const list = (names: readonly string[]) => new Intl.ListFormat('en-GB').format(names);
  const [yes, no] = [named('yes'), named('no')];
  if (yes.length + no.length === 0) return undefined;
  const text = [
    ...(yes.length > 0 ? [list(yes)] : []),
    ...(no.length > 0 ? [`not ${new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(no)}`] : []),
  ].join('; ');
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}

type Fee = NonNullable<StoredProfile['adoptionFee']>;

/** How many digits a currency has after the point: 2 for cents, none for yen. */
function digitsOf(currency: string): number {
  try {
    return new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits ?? 2;
  } catch {
    // Three letters that are no currency.
    return 2;
  }
}

/** 120.00, as it is typed. */
export const amountText = ({ amount, currency }: Fee): string => (amount / 10 ** digitsOf(currency)).toFixed(digitsOf(currency));

/** EUR 120.00 */
export const feeText = (fee: Fee): string => `${fee.currency} ${amountText(fee)}`;

/** The amount in the smallest units of the currency; undefined: it is no amount. */
export function amountOf(text: string, currency: string): number | undefined {
  const [, whole, decimals = ''] = /^(\d{1,12})(?:[.,](\d*))?$/.exec(text.trim()) ?? [];
  const digits = digitsOf(currency);
  if (whole === undefined || decimals.length > digits) return undefined;
  return Number(`${whole}${decimals.padEnd(digits, '0')}`);
}

interface Described {
  readonly profile: StoredProfile;
  /** Photos that are shown, or soon will be. */
  readonly photos: number;
}

interface Gap {
  /** What is missing, as part of a sentence. */
  readonly what: string;
  /** Where it is added, below the page of the animal: a field of the profile has the focus then. */
  readonly where: 'photos' | `profile#${string}`;
  readonly isMissing: (described: Described) => boolean;
}

/** What adopters look for first, in the order of its worth to them. */
const gaps: readonly Gap[] = [
  { what: 'a photo', where: 'photos', isMissing: ({ photos }) => photos === 0 },
  { what: 'a description', where: 'profile#description', isMissing: ({ profile }) => profile.description === null },
  { what: 'the age', where: 'profile#age', isMissing: ({ profile }) => profile.birthDate === null },
  { what: 'the sex', where: 'profile#sex', isMissing: ({ profile }) => profile.sex === 'unknown' },
  { what: 'the size', where: 'profile#size', isMissing: ({ profile }) => profile.size === null },
  {
    what: 'the breed',
    where: 'profile#breedPrimary',
    isMissing: ({ profile: { breeds } }) => breeds.primary === null && breeds.secondary === null && breeds.mixed !== 'yes',
  },
  {
    what: 'who it is good with',
    where: 'profile#children',
    isMissing: ({ profile }) => Object.values(profile.goodWith).every((known) => known === 'unknown'),
  },
];

export const gapsOf = (described: Described): readonly Gap[] => gaps.filter(({ isMissing }) => isMissing(described));
