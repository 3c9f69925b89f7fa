import { ServerPause } from '../../changes/mail/mail-queue.ts';
import { type MailOutcome, MailSender, mailSenders, type ReadMail } from '../../changes/mail/mail-sender.ts';
import { peopleMailKinds, readingPeopleMail } from '../../changes/mail/people-mail.ts';
import type { Config, MailConfig } from '../../platform/config.ts';
import { getDeployment } from '../../platform/db/deployment.ts';
import type { ServiceDb } from '../../platform/db/handles.ts';
import { storeNameOf } from '../../platform/email-addresses.ts';
import type { AdopterLink } from '../applications/adopter-links.ts';
import { applicationMailKinds, applicationMailReader } from '../applications/application-mail.ts';
import { readingLinkMail } from '../applications/link-mail.ts';
import type { ListLink } from '../applications/mail-messages.ts';
import { type PageToken, type PageTokens, pageUrl } from '../applications/page-tokens.ts';
import { addressMailKinds, readingAddressMail } from './address-mail.ts';
import type { ShelterLinks } from './shelter-links.ts';

interface Reading {
  readonly db: ServiceDb;
  readonly config: Pick<Config, 'applicationExpiryDays' | 'consoleUrl'>;
  readonly pageTokens: PageTokens;
}

/** The senders of this process that send mail. */
export async function openMailSenders(
  { db, config, pageTokens, shelterLinks }: Reading & { readonly shelterLinks: ShelterLinks },
  mail: MailConfig,
  { signal, onOutcome }: { readonly signal: AbortSignal; readonly onOutcome: (outcome: MailOutcome) => void },
): Promise<MailSender[]> {
  const { secret } = await getDeployment(db);
  const { smtp, from, replyTo, publicUrl, language } = mail;
  const ofAdopters = adopterMailReader({ db, config, pageTokens }, mail);
  const ofShelters = readingAddressMail({ links: shelterLinks, publicUrl, store: storeNameOf(from), language }, ofAdopters);
  const read = readingPeopleMail(db, { consoleUrl: config.consoleUrl, language }, ofShelters);
  const kinds = { ...applicationMailKinds, ...addressMailKinds, ...peopleMailKinds };
  const pause = new ServerPause();
  const parts = { db, server: smtp, from, replyTo, language, kinds, read, secret, pause, signal, onOutcome };
  return Array.from({ length: mailSenders }, () => new MailSender(parts));
}

/** What adopters and shelters are told. */
export function adopterMailReader({ db, config, pageTokens }: Reading, { publicUrl, from, language }: MailConfig): ReadMail {
  const links = linksOf(publicUrl, pageTokens, config.consoleUrl);
  const store = storeNameOf(from);
  const ofApplications = applicationMailReader({ links, store, language, applicationExpiryDays: config.applicationExpiryDays });
  return readingLinkMail(db, { links, store, language }, ofApplications);
}

function linksOf(publicUrl: string, tokens: PageTokens, consoleUrl: string) {
  const urlOf = (token: PageToken) => {
    const url = pageUrl(publicUrl, tokens, token);
    if (url === undefined) throw new Error('mail is on without a public URL');
    return url;
  };
  return {
    pageUrl: (id: bigint, number: bigint) => urlOf({ id, purpose: 'see', number }),
    confirmUrl: (id: bigint, number: bigint) => urlOf({ id, purpose: 'confirm', number }),
    actUrl: ({ id, number, act }: AdopterLink) => urlOf({ id, purpose: act, number }),
    applicationsList: (shelterId: bigint): ListLink =>
      consoleUrl === ''
        ? { url: `${publicUrl}/v1/applications?shelterId=${shelterId}`, reader: 'programs' }
        : { url: `${consoleUrl}/applications`, reader: 'people' },
  };
}
