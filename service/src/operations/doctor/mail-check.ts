import { SmtpFault } from '../../changes/mail/smtp-faults.ts';
import { SmtpSession } from '../../changes/mail/smtp-session.ts';
import type { MailConfig } from '../../platform/config.ts';
import { describeSmtp } from '../../platform/smtp-url.ts';
import { findTlsFault, type TlsFault } from '../../platform/tls-faults.ts';
import { broken, type Judgement, ok } from './finding.ts';

const timeoutMs = 5_000;
const timeouts = { openMs: timeoutMs, checkMs: timeoutMs, envelopeMs: timeoutMs, replyMs: timeoutMs };

/** The server for mail: connects, by TLS unless it is on this machine, logs in, and asks whether it takes mail of the sender. Sends no text. */
export async function checkMail({ smtp, from }: MailConfig): Promise<Judgement> {
  const where = describeSmtp(smtp);
  try {
    const session = await SmtpSession.open(smtp, timeouts);
    // A mailbox of the sender that doesn't exist is no fault: nobody writes to it.
    await session.tryAddress(from.address).catch((error) => {
      if (!(error instanceof SmtpFault) || error.of === 'server') throw error;
    });
    session.quit();
    return ok(`${where} takes mail${smtp.login ? ` of ${smtp.login.user}` : ' without a login'}; the sender is ${from.address}.`);
  } catch (error) {
    if (!(error instanceof SmtpFault)) throw error;
    return broken(`Mail waits: ${where} can't be used: ${error.message}.`, fixOf(error, smtp.host));
  }
}

function fixOf({ cause, code, message }: SmtpFault, host: string): string {
  const tls = cause instanceof Error ? findTlsFault(cause) : undefined;
  if (tls) return tlsFixes[tls.kind] ?? 'Let the server accept TLS 1.2 or 1.3 with usual ciphers: its log has the reason.';
  if (code?.startsWith('535')) return 'Correct the user and the password in HOMEWARD_SMTP_URL. The log of the mail server has the reason.';
  if (code) return 'Look at the log of the mail server: it rejects this machine, this user, or HOMEWARD_MAIL_FROM.';
  if (/ENOTFOUND|EAI_AGAIN|EDNS/.test(message)) return `Add ${host} to DNS, or correct HOMEWARD_SMTP_URL.`;
  if (/STARTTLS|TLS/.test(message))
    return 'Let the server offer STARTTLS, or write smtps:// if it speaks TLS from the start, usually on port 465.';
  return 'Is the server running, and does the firewall let this machine through? Many networks block port 25: use 587 or 465.';
}

const tlsFixes: Partial<Record<TlsFault['kind'], string>> = {
  untrusted: 'Let a CA sign its certificate that this program trusts: NODE_EXTRA_CA_CERTS names a file with your own.',
  otherName: 'Write the host in HOMEWARD_SMTP_URL as the certificate has it.',
  expired: 'Get it a new certificate. Is the clock of this machine right?',
  notYetValid: 'Is the clock of this machine right?',
  noTls: 'Write smtp:// instead of smtps://: this port has STARTTLS, or no TLS.',
};
