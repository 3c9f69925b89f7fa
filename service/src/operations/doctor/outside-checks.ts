import { SmtpFault, SmtpSession } from '../../changes/mail/smtp-session.ts';
import type { MailConfig, OidcConfig } from '../../platform/config.ts';
import { describeSmtp } from '../../platform/server-urls.ts';
import { findTlsFault, type TlsFault } from '../../platform/tls-faults.ts';
import { readCertificate } from '../telemetry/watches.ts';
import { broken, counted, type Judgement, ok, warning } from './finding.ts';

const timeoutMs = 5_000;
const daysMin = 14;
const dayMs = 86_400_000;

interface Entrance {
  readonly name: string;
  readonly path: string;
  /** Of a Homeward that works, without a key and signed out. */
  readonly status: number;
}

export const apiEntrance: Entrance = { name: 'API', path: '/v1/pets', status: 401 };
export const consoleEntrance: Entrance = { name: 'console', path: '/sign-in', status: 200 };

/** The way that callers take: name, certificate, load balancer, API or console. */
export async function checkUrl(url: URL, { name: what, path, status: expected }: Entrance): Promise<Judgement> {
  const certificate = await readCertificate(url).catch((error: NodeJS.ErrnoException) => error);
  if (certificate instanceof Error) {
    const { name, code = certificate.message } = certificate;
    if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return broken(`The name ${url.hostname} was not found.`, 'Add it to DNS.');
    return broken(
      `${url.host} can't be reached (${name === 'TimeoutError' ? `no reply in ${timeoutMs / 1_000} s` : code}).`,
      'Is the load balancer running, and does the firewall let port 443 through?',
    );
  }
  const { problem, validTo } = certificate;
  const daysLeft = Math.floor((validTo.getTime() - Date.now()) / dayMs);
  if (daysLeft < 0)
    return broken(`The certificate of ${url.hostname} expired on ${isoDay(validTo)}.`, 'Get a new one, and reload the load balancer.');
  if (problem)
    return broken(`The certificate of ${url.hostname} is not valid: ${problem}.`, 'Install one for this name, with its whole chain.');
  const status = await readStatus(new URL(path, url));
  if (status !== expected) {
    const found = `${url.origin}${path}${expected === 401 ? ' without a key' : ''} is ${status ?? 'no response'}, and should be ${expected}.`;
    return broken(found, `Does the load balancer lead to the ${what}, and does it have a process that is ready?`);
  }
  const left = `The certificate of ${url.hostname} is valid for ${counted(daysLeft, 'day')}, until ${isoDay(validTo)}.`;
  if (daysLeft < daysMin) return warning(left, 'Get a new one, and find out why that does not happen by itself.');
  return ok(`${left} The ${what} responds there.`);
}

async function readStatus(url: URL): Promise<number | undefined> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(timeoutMs), redirect: 'manual' });
    await response.body?.cancel();
    return response.status;
  } catch {
    return undefined;
  }
}

const isoDay = (date: Date) => date.toISOString().slice(0, 10);

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

const bytesMax = 1_000_000;
const wellKnown = '/.well-known/';
const others = 'Until then, people sign in with passkeys and links.';

/** The provider of OpenID Connect: reads what the console reads of it first, and compares the issuer, as the console does. */
export async function checkProvider({ issuer }: Pick<OidcConfig, 'issuer'>): Promise<Judgement> {
  const isDocument = issuer.includes(wellKnown);
  const url = isDocument ? issuer : `${issuer.replace(/\/$/, '')}${wellKnown}openid-configuration`;
  const read = await readMetadata(url);
  if ('problem' in read) {
    const fix = 'Is HOMEWARD_OIDC_ISSUER correct, does the provider run, and may this machine reach it?';
    return warning(`Nobody can sign in with the provider: ${url} ${read.problem}.`, `${fix} ${others}`);
  }
  const named = read.issuer;
  if (typeof named !== 'string' || (!isDocument && hrefOf(named) !== hrefOf(issuer))) {
    const found = `Nobody can sign in with the provider: HOMEWARD_OIDC_ISSUER is ${issuer}, and ${url} names the issuer ${shown(named)}.`;
    return warning(found, `Set HOMEWARD_OIDC_ISSUER to what it names, if that is your provider. ${others}`);
  }
  return ok(`The provider ${issuer} responds, as the issuer ${named}.`);
}

async function readMetadata(url: string): Promise<{ readonly issuer: unknown } | { readonly problem: string }> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(timeoutMs), redirect: 'manual' });
    if (response.status !== 200) {
      await response.body?.cancel();
      return { problem: `is ${response.status}, and should be 200` };
    }
    const text = await readText(response);
    const json: unknown = text === undefined ? undefined : parsed(text);
    return typeof json === 'object' && json !== null
      ? { issuer: (json as { issuer?: unknown }).issuer }
      : { problem: 'is no document of a provider' };
  } catch (error) {
    const { name, message, cause } = error as Error & { cause?: { code?: string; message?: string } };
    return {
      problem:
        name === 'TimeoutError'
          ? `does not reply in ${timeoutMs / 1_000} s`
          : `can't be read (${cause?.code ?? cause?.message ?? message})`,
    };
  }
}

/** Undefined: it is longer than any such document. */
async function readText({ body }: Response): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    if (bytes > bytesMax) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const hrefOf = (url: string): string | undefined => URL.parse(url)?.href;
const shown = (named: unknown): string => (typeof named === 'string' ? named.slice(0, 200) : 'nowhere');
