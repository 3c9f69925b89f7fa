import { readCertificate } from '../telemetry/certificate-watch.ts';
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

export const api: Entrance = { name: 'API', path: '/v1/pets', status: 401 };
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
