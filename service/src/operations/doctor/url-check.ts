import { readCertificate } from '../telemetry/certificate-watch.ts';
import { broken, counted, type Judgement, ok, warning } from './finding.ts';

const timeoutMs = 5_000;
const daysMin = 14;
const dayMs = 86_400_000;

/** The way that partners take: name, certificate, load balancer, API. */
export async function checkUrl(url: URL): Promise<Judgement> {
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
