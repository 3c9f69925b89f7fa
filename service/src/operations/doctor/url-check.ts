import { isIP } from 'node:net';
import { connect, type PeerCertificate, type TLSSocket } from 'node:tls';
import { broken, counted, type Judgement, ok, warning } from './finding.ts';

const timeoutMs = 5_000;
const daysMin = 14;
const dayMs = 86_400_000;

/** The way that partners take: name, certificate, load balancer, API. */
export async function checkUrl(url: URL): Promise<Judgement> {
  const certificate = await readCertificate(url).catch((error: NodeJS.ErrnoException) => error);
  if (certificate instanceof Error) {
    const { code = certificate.message } = certificate;
    if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return broken(`The name ${url.hostname} was not found.`, 'Add it to DNS.');
    return broken(`${url.host} can't be reached (${code}).`, 'Is the load balancer running, and does the firewall let port 443 through?');
  }
  const { problem, validTo } = certificate;
  const daysLeft = Math.floor((validTo.getTime() - Date.now()) / dayMs);
  if (daysLeft < 0)
    return broken(`The certificate of ${url.hostname} expired on ${isoDay(validTo)}.`, 'Get a new one, and reload the load balancer.');
  if (problem)
    return broken(`The certificate of ${url.hostname} is not valid: ${problem}.`, 'Install one for this name, with its whole chain.');
  const status = await readApiStatus(url);
  // Without a key, the API of a Homeward that works responds with 401.
  if (status !== 401) {
    const found = `${url.origin}/v1/pets without a key is ${status ?? 'no response'}, and should be 401.`;
    return broken(found, 'Does the load balancer lead to Homeward, and does it have a process that is ready?');
  }
  const left = `The certificate of ${url.hostname} is valid for ${counted(daysLeft, 'day')}, until ${isoDay(validTo)}.`;
  if (daysLeft < daysMin) return warning(left, 'Get a new one, and find out why that does not happen by itself.');
  return ok(`${left} The API responds there.`);
}

interface Certificate {
  /** Undefined: it is trusted, and for this name. */
  readonly problem: string | undefined;
  readonly validTo: Date;
}

function readCertificate(url: URL): Promise<Certificate> {
  return new Promise((resolve, reject) => {
    // Not rejected here, but by `problem`: then the dates can be read too. Nothing is sent over this connection.
    const host = url.hostname.replace(/^\[|\]$/g, '');
    const socket: TLSSocket = connect({
      host,
      port: Number(url.port || 443),
      ...(isIP(host) === 0 && { servername: host }),
      rejectUnauthorized: false,
      timeout: timeoutMs,
    });
    socket.once('secureConnect', () => {
      const { valid_to: validTo } = socket.getPeerCertificate() as PeerCertificate;
      const reason = socket.authorizationError as Error | string | undefined;
      resolve({ problem: socket.authorized ? undefined : String(reason), validTo: new Date(validTo) });
      socket.destroy();
    });
    socket.once('timeout', () => socket.destroy(new Error(`no reply in ${timeoutMs / 1_000} s`)));
    socket.once('error', reject);
  });
}

async function readApiStatus(url: URL): Promise<number | undefined> {
  try {
    const response = await fetch(new URL('/v1/pets', url), { signal: AbortSignal.timeout(timeoutMs), redirect: 'manual' });
    await response.body?.cancel();
    return response.status;
  } catch {
    return undefined;
  }
}

const isoDay = (date: Date) => date.toISOString().slice(0, 10);
