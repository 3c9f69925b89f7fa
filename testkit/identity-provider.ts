// A provider of OpenID Connect on this machine: who signs in there is who says so.
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';

export interface Account {
  readonly email: string;
  readonly isVerified: boolean;
}

export interface IdentityProvider extends AsyncDisposable {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** By subject. Others have no address. */
  readonly accounts: Map<string, Account>;
  /** Names the console, whose address is known only once the provider's is. */
  serve(consoleUrl: string): void;
}

export async function openIdentityProvider(): Promise<IdentityProvider> {
  let listener: RequestListener = (_, response) => response.writeHead(503).end();
  const server = createServer((request, response) => listener(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const [clientId, clientSecret] = ['homeward', 'a secret of some length'];
  const accounts = new Map<string, Account>();
  return {
    issuer,
    clientId,
    clientSecret,
    accounts,
    serve(consoleUrl) {
      const provider = new Provider(issuer, {
        clients: [{ client_id: clientId, client_secret: clientSecret, redirect_uris: [`${consoleUrl}/sign-in/return`] }],
        cookies: { keys: ['for tests only'] },
        pkce: { required: () => true },
        claims: { openid: ['sub'], email: ['email', 'email_verified'], auth_time: null },
        scopes: ['openid', 'email'],
        findAccount: (_: unknown, sub: string) => {
          const { email, isVerified } = accounts.get(sub) ?? {};
          // `groups` and `role`: a role must never come from a claim.
          return { accountId: sub, claims: () => ({ sub, email, email_verified: isVerified, groups: ['admin'], role: 'admin' }) };
        },
        features: { devInteractions: { enabled: true }, userinfo: { enabled: true } },
      });
      listener = provider.callback();
    },
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
}
