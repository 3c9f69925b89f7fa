// Mail about subjects that are in memory, from a store's queue to a real SMTP server.

import type { MailServer } from '../../testkit/mail-server.ts';
import { type QueuedMail, queueMail, ServerPause } from '../src/changes/mail/mail-queue.ts';
import { type MailKind, type MailOutcome, type MailParts, MailSender } from '../src/changes/mail/mail-sender.ts';
import type { MailMessage } from '../src/changes/mail/message.ts';
import { theService } from '../src/domain/actor.ts';
import { parseSmtpUrl } from '../src/platform/server-urls.ts';
import type { TestStore } from './test-store.ts';

export const mailKinds = {
  confirm: { countsAs: 'confirmation', atBound: 'wait' },
  received: { countsAs: 'message' },
  accepted: { countsAs: 'staff', atBound: 'fail' },
  shelter: { countsAs: 'nothing' },
} as const satisfies Record<string, MailKind>;

/** Of a server that replies. Busy cores are late. */
export const timeouts = { openMs: 15_000, checkMs: 5_000, envelopeMs: 15_000, replyMs: 15_000 };
/** Of one that hangs. */
export const shortTimeouts = { ...timeouts, envelopeMs: 500, replyMs: 500 };

/** What is to be said about each subject. */
export class Letters extends Map<bigint, MailMessage> {
  write(subjectId: bigint, message: Partial<MailMessage> = {}): MailMessage {
    const written = {
      to: { address: `ada${subjectId}@example.org` },
      subject: `About ${subjectId}`,
      text: `Hello ${subjectId}`,
      ...message,
    };
    this.set(subjectId, written);
    return written;
  }
}

export function openMailSender(
  store: TestStore,
  server: Pick<MailServer, 'url'>,
  letters: ReadonlyMap<bigint, MailMessage>,
  parts: Partial<MailParts> = {},
): { readonly sender: MailSender; readonly outcomes: MailOutcome[] } {
  const outcomes: MailOutcome[] = [];
  const sender = new MailSender({
    db: store.dependencies.db,
    server: parseSmtpUrl(server.url),
    from: { name: 'Danube Shelter', address: 'no-reply@store.example' },
    replyTo: undefined,
    language: 'en',
    kinds: mailKinds,
    read: async (_, { subjectId }) => letters.get(subjectId),
    secret: Buffer.alloc(32, 7),
    pause: new ServerPause(),
    signal: new AbortController().signal,
    onOutcome: (outcome) => outcomes.push(outcome),
    timeouts,
    ...parts,
  });
  return { sender, outcomes };
}

export const queue = (store: TestStore, ...mail: QueuedMail[]): Promise<void> =>
  store.dependencies.db.transaction((tx) => queueMail(tx, ...mail), theService);

/** Until none is due. Errors of the server are returned. */
export async function sendAll(sender: MailSender): Promise<unknown[]> {
  const errors: unknown[] = [];
  for (let tries = 0; tries < 1_000; tries += 1) {
    const done = await sender.sendNext().catch((error: unknown) => {
      errors.push(error);
      return 1;
    });
    if (done === 0) return errors;
  }
  throw new Error('mail is still due');
}

/** As if the time of the next attempt had come, or the claim of a worker that is gone had ended. */
export const makeDue = (store: TestStore) => store.write(`update mail set due_at = now() where state = 'queued'`);

export const readMail = (store: TestStore) =>
  store.read<{ kind: string; subjectId: bigint; state: string; attempts: number; failure: string | null; claim: bigint | null }>(
    `select kind, subject_id as "subjectId", state, attempts::int, failure, claim from mail order by id`,
  );
