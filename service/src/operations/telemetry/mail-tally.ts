import type { MailOutcome } from '../../changes/mail/mail-sender.ts';

/** Counts attempts to send mail. */
export class MailTally {
  readonly outcomes: Record<MailOutcome, number> = { sent: 0, deferred: 0, failed: 0, dropped: 0, limited: 0 };

  readonly onOutcome = (outcome: MailOutcome): void => {
    this.outcomes[outcome] += 1;
  };
}
