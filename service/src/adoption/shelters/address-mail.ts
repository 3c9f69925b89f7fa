import { queueMail } from '../../changes/mail/mail-queue.ts';
import type { MailKind, ReadMail } from '../../changes/mail/mail-sender.ts';
import type { Language } from '../../platform/config.ts';
import type { Transaction } from '../../platform/db/handles.ts';
import { type ShelterLinks, shelterPagesPath } from './shelter-links.ts';
import { findConfirmed, findShelter } from './shelter-queries.ts';

/** Asks for the confirmation of a shelter's address. Its subject is the shelter. */
export const addressMailKinds = {
  shelter_address: { countsAs: 'confirmation', shelterBound: 'own', atBound: 'fail' },
} as const satisfies Record<string, MailKind>;

const kind: keyof typeof addressMailKinds = 'shelter_address';

const texts: Readonly<Record<Language, { readonly subject: string; readonly paragraphs: readonly string[] }>> = {
  en: {
    subject: 'Please confirm your e-mail address',
    paragraphs: [
      'Hello,',
      'Somebody gave this e-mail address to {store} as that of a shelter. We hope that it was you.',
      'If so, please confirm it on this page. Then adopters reply to this address, and we tell you here when applications wait:',
      '{url}',
      'The link works for three days. If it was not you, there is nothing to do: nothing else is sent here.',
      'This message was sent automatically by {store}.',
    ],
  },
};

/** In the transaction that changes the address. At most one an hour is sent. */
export const queueAddressMail = (tx: Transaction, shelterId: bigint): Promise<void> =>
  queueMail(tx, { kind, subjectId: shelterId, isSingle: true });

interface Settings {
  readonly links: ShelterLinks;
  readonly publicUrl: string;
  readonly store: string;
  readonly language: Language;
}

/** Passes on what is not about the address of a shelter. To the address that it has as the message is sent, in the operator's words alone. */
export function readingAddressMail({ links, publicUrl, store, language }: Settings, others: ReadMail): ReadMail {
  return async (db, mail) => {
    if (mail.kind !== kind) return others(db, mail);
    const { subjectId: id } = mail;
    const email = (await findShelter(db, id))?.email;
    if (!email || email === (await findConfirmed(db, id)).email) return undefined;
    const url = `${publicUrl}${shelterPagesPath}/${links.write(id, email, Date.now())}`;
    const values: Readonly<Record<string, string>> = { '{store}': store, '{url}': url };
    const { subject, paragraphs } = texts[language];
    const text = paragraphs.join('\n\n').replaceAll(/\{\w+\}/g, (name) => values[name] ?? name);
    return { to: { address: email }, subject, text: `${text}\n`, isUnconfirmed: true, shelter: { id } };
  };
}
