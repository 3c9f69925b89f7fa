// What a worker would send to adopters now, without a mail server.

import { applicationMailKinds } from '../../src/adoption/applications/application-mail.ts';
import { adopterMailReader } from '../../src/adoption/shelters/mail-senders.ts';
import type { MailKind } from '../../src/changes/mail/mail-sender.ts';
import type { MailMessage } from '../../src/changes/mail/message.ts';
import type { TestStore } from '../test-store.ts';

export interface Mailbox {
  /** Of every message about an application. */
  kinds(id: bigint): Promise<string[]>;
  /** Of those that are not sent and not cancelled. */
  waiting(id: bigint): Promise<string[]>;
  /** As the worker reads the last message of a kind. What waits then counts as sent. */
  open(id: bigint, kind: string): Promise<MailMessage | undefined>;
  /** The path of its link. */
  openLink(id: bigint, kind: string): Promise<string>;
  kindOf(kind: string): MailKind | undefined;
}

export function openMailbox(store: TestStore): Mailbox {
  const { db, config, pageTokens } = store.dependencies;
  if (!config.mail) throw new Error('mail is off');
  const read = adopterMailReader({ db, config, pageTokens }, config.mail);
  const kindsIn = async (id: bigint, state: string) =>
    (
      await store.read<{ kind: string }>(
        `select kind from mail where subject_id = $1 and state like $2 and kind <> 'shelter' order by id`,
        id,
        state,
      )
    ).map(({ kind }) => kind);
  const open = async (id: bigint, kind: string) => {
    const [row] = await store.read<{ id: bigint; createdAt: Date; recipient: string | null }>(
      'select id, created_at as "createdAt", recipient from mail where subject_id = $1 and kind = $2 order by id desc limit 1',
      id,
      kind,
    );
    if (!row) throw new Error(`no mail of the kind ${kind} is queued about application ${id}`);
    const message = await read(db, { ...row, kind, subjectId: id });
    await store.write(`update mail set state = 'sent', ended_at = now() where subject_id = $1 and state = 'queued'`, id);
    return message;
  };
  return {
    kinds: (id) => kindsIn(id, '%'),
    waiting: (id) => kindsIn(id, 'queued'),
    open,
    openLink: async (id, kind) => /^https:\/\/store\.example(\/a\/\w+)$/m.exec((await open(id, kind))?.text ?? '')?.[1] ?? '',
    kindOf: (kind) => applicationMailKinds[kind],
  };
}
