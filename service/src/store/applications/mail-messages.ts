import type { MailMessage } from '../../changes/mail/message.ts';
import type { Language } from '../../platform/config.ts';
import type { MailTexts, Plural } from './application-mail-texts.ts';
import type { MailedApplication, MailedShelter, ShelterTold } from './mail-queries.ts';

type AdopterMailKind = 'confirm' | 'received' | 'accepted' | 'declined' | 'closed';

export function adopterMessage(
  texts: MailTexts,
  kind: AdopterMailKind,
  { adopterName, adopterEmail, petName, message, closedReason, isConfirmed, shelter }: MailedApplication,
  url: string,
): MailMessage {
  const text = kind === 'closed' ? texts.closed[closedReason ?? 'withdrawn'] : texts[kind];
  // Anyone who gives another's address, also at the desk, writes that person nothing: not even a name.
  const isTrusted = isConfirmed && kind !== 'confirm';
  const [shelterName, name] = [nameInText(shelter.name), nameInText(adopterName)];
  const values = { pet: nameInText(petName), shelter: shelterName, name, message: quoted(message ?? ''), url };
  const greeting = isTrusted && name ? texts.greeting.byName : texts.greeting.withoutName;
  const paragraphs = text.paragraphs
    .filter((paragraph) => message || !paragraph.includes('{message}'))
    .map((paragraph) => (!isTrusted && paragraph.includes('{message}') ? texts.messageOnPage : paragraph));
  return {
    to: { address: adopterEmail, name: isTrusted ? adopterName : undefined },
    replyTo: shelter.email === null ? undefined : { address: shelter.email, name: shelterName },
    subject: fill(text.subject, values),
    text: `${[...[greeting, ...paragraphs].map((part) => fill(part, values)), contactOf(texts, shelter), texts.footer].join('\n\n')}\n`,
    isUnconfirmed: !isConfirmed,
  };
}

/** Undefined: it has no address, or nothing waits for it. No adopter's data. */
export function shelterMessage(
  texts: MailTexts,
  language: Language,
  { shelter, submitted, unanswered, oldest }: ShelterTold,
  { url, days, expiryDays }: { readonly url: string; readonly days: number; readonly expiryDays: number },
): MailMessage | undefined {
  if (shelter.email === null || submitted + unanswered === 0) return undefined;
  const plural = (forms: Plural, count: number, values: Values = {}) =>
    fill(forms[new Intl.PluralRules(language).select(count)] ?? forms.other, { count: count.toLocaleString(language), ...values });
  const { subject, submitted: lookedAt, unanswered: late, one, more, end } = texts.shelter;
  const lines = oldest.map(({ id, petName }) => fill(one, { id: String(id), pet: nameInText(petName) }));
  if (unanswered > oldest.length) lines.push(plural(more, unanswered - oldest.length));
  const paragraphs = [
    texts.greeting.withoutName,
    ...(submitted > 0 ? [plural(lookedAt, submitted, { shelter: nameInText(shelter.name) })] : []),
    ...(unanswered > 0 ? [`${plural(late, unanswered, { days: String(days) })}\n${lines.join('\n')}`] : []),
    fill(end, { expiry: String(expiryDays) }),
    url,
    texts.footer,
  ];
  return {
    to: { address: shelter.email, name: shelter.name },
    subject: plural(subject, Math.max(submitted, unanswered)),
    text: `${paragraphs.join('\n\n')}\n`,
  };
}

/** A website and an e-mail address are there to be followed; they are of a shelter that the store's operator has set up. */
function contactOf({ contact }: MailTexts, { name: given, ...shelter }: MailedShelter): string {
  const name = nameInText(given);
  const reached = { ...shelter, address: shelter.address?.split(/\r?\n/).map(withoutLinks).join('\n') ?? null };
  const lines = (['email', 'phone', 'website', 'address'] as const).flatMap((way) => {
    const value = reached[way];
    return value === null ? [] : [`${contact[way]}: ${value}`];
  });
  return lines.length === 0 ? name : [fill(contact.title, { shelter: name }), ...lines].join('\n');
}

type Values = Readonly<Record<string, string>>;

/** What is filled in is not searched again. */
const fill = (template: string, values: Values): string => template.replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);

const nameLengthMax = 80;

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
