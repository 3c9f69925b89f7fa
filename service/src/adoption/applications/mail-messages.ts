import type { MailMessage } from '../../changes/mail/message.ts';
import type { Language } from '../../platform/config.ts';
import type { MailTexts, Plural } from './application-mail-texts.ts';
import type { MailedAnimal, MailedApplication, MailedShelter, ShelterTold } from './mail-queries.ts';

type AdopterMailKind = 'confirm' | 'received' | 'accepted' | 'declined' | 'closed';

/** The words of the operator, in which a message is written. */
export interface MailWords {
  readonly texts: MailTexts;
  readonly language: Language;
  /** What the store is called. */
  readonly store: string;
}

export function adopterMessage(words: MailWords, kind: AdopterMailKind, application: MailedApplication, url: string): MailMessage {
  const { texts, store } = words;
  const { adopterName, adopterEmail, pet, message, closedReason, shelter, clientId, isConfirmed } = application;
  const of = { id: BigInt(shelter.id), clientId };
  if (!isConfirmed || kind === 'confirm') return { ...strangerMessage(words, kind, adopterEmail, url), shelter: of };
  const text = kind === 'closed' ? texts.closed[closedReason ?? 'withdrawn'] : texts[kind];
  const [shelterName, name] = [shelterNameIn(texts, shelter), adopterNameIn(adopterName)];
  const values = { pet: animalNameIn(texts, pet), shelter: shelterName, name, message: quoted(message ?? ''), url, store };
  const greeting = name ? texts.greeting.byName : texts.greeting.withoutName;
  const paragraphs = text.paragraphs.filter((paragraph) => message || !paragraph.includes('{message}'));
  return {
    to: { address: adopterEmail, name },
    replyTo: shelter.email === null ? undefined : { address: shelter.email, name: shelterName },
    subject: fill(text.subject, values),
    text: messageTextOf([
      ...[greeting, ...paragraphs].map((part) => fill(part, values)),
      ...addedBy(texts, shelter, kind),
      contactOf(texts, shelter),
      fill(texts.footer, values),
    ]),
    shelter: of,
  };
}

/** What the shelter adds, as store staff have confirmed it last. */
function addedBy(texts: MailTexts, shelter: MailedShelter, kind: AdopterMailKind): string[] {
  const text = kind === 'received' ? shelter.mailReceived : kind === 'accepted' ? shelter.mailAccepted : null;
  return text === null ? [] : [fill(texts.added, { shelter: shelterNameIn(texts, shelter), text: quoted(text) })];
}

/** To somebody who may have nothing to do with the application: nothing that anybody but the operator has written, not even a name. */
function strangerMessage({ texts, store }: MailWords, kind: AdopterMailKind, address: string, url: string): MailMessage {
  const { subject, paragraphs } = texts.unconfirmed[kind === 'confirm' || kind === 'received' ? kind : 'news'];
  const values = { url, store };
  return {
    to: { address },
    subject: fill(subject, values),
    text: messageTextOf([texts.greeting.withoutName, ...paragraphs, texts.footer].map((part) => fill(part, values))),
    isUnconfirmed: true,
  };
}

export const messageTextOf = (paragraphs: readonly string[]) => `${paragraphs.join('\n\n')}\n`;

/** Where a shelter finds its applications, and whether people read that, or only programs with a key. */
export interface ListLink {
  readonly url: string;
  readonly reader: 'people' | 'programs';
}

/** Undefined: it has no address, or nothing waits for it. No adopter's data. */
export function shelterMessage(
  { texts, language, store }: MailWords,
  { shelter, submitted, unanswered, oldest }: ShelterTold,
  { list: { url, reader }, days, expiryDays }: { readonly list: ListLink; readonly days: number; readonly expiryDays: number },
): MailMessage | undefined {
  if (shelter.email === null || submitted + unanswered === 0) return undefined;
  const plural = (forms: Plural, count: number, values: Values = {}) =>
    fill(forms[new Intl.PluralRules(language).select(count)] ?? forms.other, { count: count.toLocaleString(language), ...values });
  const { subject, submitted: lookedAt, unanswered: late, one, more, end, list } = texts.shelter;
  const lines = oldest.map(({ id, pet }) => fill(one, { id: String(id), pet: animalNameIn(texts, pet) }));
  if (unanswered > oldest.length) lines.push(plural(more, unanswered - oldest.length));
  const paragraphs = [
    texts.greeting.withoutName,
    ...(submitted > 0 ? [plural(lookedAt, submitted, { shelter: shelterNameIn(texts, shelter) })] : []),
    ...(unanswered > 0 ? [`${plural(late, unanswered, { days: String(days) })}\n${lines.join('\n')}`] : []),
    `${fill(end, { expiry: String(expiryDays) })} ${list[reader]}`,
    url,
    fill(texts.footer, { store }),
  ];
  return {
    to: { address: shelter.email, name: shelter.name ?? undefined },
    subject: plural(subject, Math.max(submitted, unanswered)),
    text: messageTextOf(paragraphs),
    shelter: { id: BigInt(shelter.id) },
  };
}

/** A website and an e-mail address are there to be followed: they are confirmed. */
export function contactOf(texts: MailTexts, shelter: MailedShelter): string {
  const { contact } = texts;
  const name = shelterNameIn(texts, shelter);
  const reached = { ...shelter, address: shelter.address?.split(/\r?\n/).map(withoutLinks).join('\n') ?? null };
  const lines = (['email', 'phone', 'website', 'address'] as const).flatMap((way) => {
    const value = reached[way];
    return value === null ? [] : [`${contact[way]}: ${value}`];
  });
  return lines.length === 0 ? name : [fill(contact.title, { shelter: name }), ...lines].join('\n');
}

export const shelterNameIn = ({ unnamedShelter }: MailTexts, { id, name }: MailedShelter): string =>
  name === null ? fill(unnamedShelter, { id }) : nameInText(name);

/** Empty: it is unlike a person's name. */
export const adopterNameIn = (name: string): string => (isLikeName(name, 0) ? nameInText(name) : '');

export const animalNameIn = ({ unnamedAnimal }: MailTexts, { id, name }: MailedAnimal): string =>
  isLikeName(name, animalDigitsMax) ? nameInText(name) : fill(unnamedAnimal, { id: String(id) });

type Values = Readonly<Record<string, string>>;

/** What is filled in is not searched again. */
export const fill = (template: string, values: Values): string =>
  template.replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);

const nameLengthMax = 80;
const likeNameLengthMax = 60;
/** As in Rex 2. */
const animalDigitsMax = 3;

/** Whether it is a name, and not a text with an address, a number or an amount. A full stop ends a word, as in jun., or is between initials. */
function isLikeName(name: string, digitsMax: number): boolean {
  const line = name.normalize('NFKC').trim();
  return (
    [...line].length <= likeNameLengthMax &&
    (line.match(/\p{N}/gu)?.length ?? 0) <= digitsMax &&
    !/[:/\\@]|[.\u3002\u00b7\u2219\u22c5\u30fb](?![\s,]|$|\p{L}\.)/u.test(line)
  );
}

/** A stranger's name on one line, without what a mail program makes a link of, and without a telephone number. */
function nameInText(name: string): string {
  const line = withoutLinks(name).replace(/\+?\p{Nd}(?:[\s()./\-–]{0,3}\p{Nd}){5,}/gu, '…');
  const characters = [...line];
  return characters.length > nameLengthMax ? `${characters.slice(0, nameLengthMax - 1).join('')}…` : line;
}

/** NFKC makes full stops of most characters that look like one; the others are here. */
const withoutLinks = (line: string): string =>
  line
    .normalize('NFKC')
    .replace(/\s+/g, ' ')
    .trim()
    .replaceAll('://', ': //')
    .replace(/[.\u3002\u00b7\u2219\u22c5\u30fb](?=[^\s.])/gu, '. ')
    .replaceAll('@', ' at ');

const quoted = (text: string): string =>
  text
    .split(/\r?\n/)
    .map((line) => `> ${line}`.trimEnd())
    .join('\n');
