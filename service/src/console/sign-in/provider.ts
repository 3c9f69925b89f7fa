import type { FastifyBaseLogger } from 'fastify';
import * as client from 'openid-client';
import type { Identity } from '../../access/people/credentials.ts';
import { sessionDays } from '../../access/people/sessions.ts';
import type { OidcConfig } from '../../platform/config.ts';

/** What this browser must bring back from the provider. */
export interface Flow {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  readonly startedAtMs: number;
}

/** Who has come back. */
export interface Account {
  readonly identity: Identity;
  /** Undefined: the provider does not say that it is verified. */
  readonly email: string | undefined;
  /** When the person has signed in there; undefined: the provider does not say. */
  readonly authenticatedAtMs: number | undefined;
}

/** The provider did not confirm who it is. `cause` is for the log. */
export class NotConfirmed extends Error {}

/** The provider can't be reached, or does not respond in time. It has been logged. */
export class ProviderAway extends Error {}

/** Of each request to the provider. */
const timeoutSeconds = 5;
const metadataMs = 3_600_000;

/** A provider of OpenID Connect: the authorization code flow with PKCE, state and nonce. */
export class Provider {
  readonly #config: OidcConfig;
  readonly #returnUrl: string;
  readonly #log: Log;
  /** So that it is logged once, and not by everybody who comes meanwhile. */
  #isAway = false;
  #found: { readonly metadata: Promise<client.Configuration>; readonly atMs: number } | undefined;

  constructor(config: OidcConfig, consoleUrl: string, log: Log) {
    this.#config = config;
    this.#log = log;
    this.#returnUrl = `${consoleUrl}/sign-in/return`;
  }

  /** `again`: who is signed in there already must sign in once more. With a `max_age`, the provider says when that was. */
  async start({ again, nowMs }: { again: boolean; nowMs: number }): Promise<{ url: URL; flow: Flow }> {
    const metadata = await this.#metadata(nowMs);
    const flow = {
      state: client.randomState(),
      nonce: client.randomNonce(),
      verifier: client.randomPKCECodeVerifier(),
      startedAtMs: nowMs,
    };
    const url = client.buildAuthorizationUrl(metadata, {
      redirect_uri: this.#returnUrl,
      scope: 'openid email',
      code_challenge: await client.calculatePKCECodeChallenge(flow.verifier),
      code_challenge_method: 'S256',
      state: flow.state,
      nonce: flow.nonce,
      ...(again ? { prompt: 'login', max_age: '0' } : { max_age: String(sessionDays * 86_400) }),
    });
    return { url, flow };
  }

  /** `query`: what the provider has sent the browser back with. */
  async finish(query: string, flow: Flow, nowMs: number): Promise<Account> {
    const metadata = await this.#metadata(nowMs);
    try {
      const tokens = await client.authorizationCodeGrant(metadata, new URL(`${this.#returnUrl}?${query}`), {
        pkceCodeVerifier: flow.verifier,
        expectedState: flow.state,
        expectedNonce: flow.nonce,
        idTokenExpected: true,
      });
      const claims = tokens.claims();
      if (!claims) throw new Error('no ID token');
      // Many providers say it only there.
      const about =
        claims['email'] === undefined && metadata.serverMetadata().userinfo_endpoint !== undefined
          ? await client.fetchUserInfo(metadata, tokens.access_token, claims.sub)
          : claims;
      const { email, email_verified: isVerified } = about as { email?: unknown; email_verified?: unknown };
      return {
        identity: { issuer: claims.iss, subject: claims.sub },
        email: isVerified === true && typeof email === 'string' ? email : undefined,
        authenticatedAtMs: typeof claims.auth_time === 'number' ? claims.auth_time * 1_000 : undefined,
      };
    } catch (cause) {
      if (isUnreachable(cause)) throw this.#away(cause);
      throw new NotConfirmed('the provider did not confirm who it is', { cause });
    }
  }

  /** Read when it is first needed, once for all who wait for it, and again after an hour, or if it could not be read. */
  #metadata(nowMs: number): Promise<client.Configuration> {
    if (this.#found && nowMs - this.#found.atMs < metadataMs) return this.#found.metadata;
    const { issuer, clientId, clientSecret } = this.#config;
    // The ID token comes straight from the provider, and its signature is verified all the same: who stands between can't sign one.
    const execute = [client.enableNonRepudiationChecks];
    // oxlint-disable-next-line typescript/no-deprecated -- marked so that it stands out; only a provider on this machine is without TLS
    if (issuer.startsWith('http:')) execute.push(client.allowInsecureRequests);
    const metadata = client.discovery(new URL(issuer), clientId, clientSecret, undefined, { execute, timeout: timeoutSeconds });
    const found = { metadata, atMs: nowMs };
    this.#found = found;
    return metadata.then(
      (read) => {
        if (this.#isAway) this.#log.info('the provider of OpenID Connect responds again');
        this.#isAway = false;
        return read;
      },
      (cause: unknown) => {
        if (this.#found === found) this.#found = undefined;
        throw this.#away(cause);
      },
    );
  }

  /** Its metadata are read again by the next who comes. */
  #away(cause: unknown): ProviderAway {
    if (!this.#isAway)
      this.#log.warn({ err: cause }, 'the provider of OpenID Connect can not be reached: people sign in with passkeys and links');
    this.#isAway = true;
    this.#found = undefined;
    return new ProviderAway('the provider can not be reached', { cause });
  }
}

type Log = Pick<FastifyBaseLogger, 'info' | 'warn'>;

/** Of a request to the provider: it took too long, did not arrive, or met a fault there. */
function isUnreachable(thrown: unknown): boolean {
  if (!(thrown instanceof client.ClientError)) return false;
  const { code, cause } = thrown;
  return code === 'OAUTH_TIMEOUT' || cause instanceof TypeError || (cause instanceof Response && cause.status >= 500);
}
