import type { OidcConfig } from '../../platform/config.ts';
import { type Judgement, ok, warning } from './finding.ts';

const timeoutMs = 5_000;
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
