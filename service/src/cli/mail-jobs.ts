import { type MailOutcome, MailSender, mailSenders } from '../changes/mail/mail-sender.ts';
import { peopleMailKinds, readingPeopleMail } from '../changes/mail/people-mail.ts';
import { ServerPause } from '../changes/mail/server-pause.ts';
import type { Dependencies } from '../dependencies.ts';
import type { MailConfig } from '../platform/config.ts';
import { getDeployment } from '../platform/db/deployment-queries.ts';
import { applicationMailKinds, applicationMailReader, type MailLinks } from '../store/applications/application-mail.ts';
import { type PageTokens, pageUrl } from '../store/applications/page-tokens.ts';

/** The senders of this process that send mail. */
export async function openMailSenders(
  { db, config, pageTokens }: Pick<Dependencies, 'db' | 'config' | 'pageTokens'>,
  mail: MailConfig,
  { signal, onOutcome }: { readonly signal: AbortSignal; readonly onOutcome: (outcome: MailOutcome) => void },
): Promise<MailSender[]> {
  const { secret } = await getDeployment(db);
  const { smtp, from, publicUrl, language } = mail;
  const links = linksOf(publicUrl, pageTokens);
  const ofApplications = applicationMailReader({ links, language, applicationExpiryDays: config.applicationExpiryDays });
  const read = readingPeopleMail(db, { consoleUrl: config.consoleUrl, language }, ofApplications);
  const kinds = { ...applicationMailKinds, ...peopleMailKinds };
  const pause = new ServerPause();
  const parts = { db, server: smtp, from, language, kinds, read, secret, pause, signal, onOutcome };
  return Array.from({ length: mailSenders }, () => new MailSender(parts));
}

function linksOf(publicUrl: string, tokens: PageTokens): MailLinks {
  const urlOf = (id: bigint, purpose: 'see' | 'confirm') => {
    const url = pageUrl(publicUrl, tokens, id, purpose);
    if (url === undefined) throw new Error('mail is on without a public URL');
    return url;
  };
  return {
    pageUrl: (id) => urlOf(id, 'see'),
    confirmUrl: (id) => urlOf(id, 'confirm'),
    applicationsUrl: (shelterId) => `${publicUrl}/v1/applications?shelterId=${shelterId}`,
  };
}
