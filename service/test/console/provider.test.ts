import { generateKeyPairSync, type KeyObject, type KeyPairKeyObjectResult, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { openIdentityProvider } from '../../../testkit/identity-provider.ts';
import { listActs } from '../../src/access/audit/audit.ts';
import { Seals } from '../../src/console/sessions/cookies.ts';
import { NotConfirmed, Provider, ProviderAway } from '../../src/console/sign-in/provider.ts';
import { disposeAfterAll } from '../dispose-after-all.ts';
import { countRows } from './console-steps.ts';
import { openTestConsole, type TestBrowser, wordsOf } from './test-console.ts';

const provider = disposeAfterAll(await openIdentityProvider());
const { issuer, clientId, clientSecret, accounts } = provider;
const site = await openTestConsole({
  env: { HOMEWARD_OIDC_ISSUER: issuer, HOMEWARD_OIDC_CLIENT_ID: clientId, HOMEWARD_OIDC_CLIENT_SECRET: clientSecret },
});
provider.serve(site.url);

/** What a person does at the provider: signs in with this subject, and consents. Returns the path that the browser is sent back to. */
async function visitProvider(start: string, subject: string, cookies = new Map<string, string>()): Promise<string> {
  const go = async (url: URL, init: RequestInit = {}): Promise<string> => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, { redirect: 'manual', ...init, headers: { ...(init.headers as Record<string, string>), cookie } });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value) cookies.set(name, value);
      else cookies.delete(name);
    }
    const next = response.headers.get('location');
    if (next?.startsWith(site.url)) return next.slice(site.url.length);
    if (next) return go(new URL(next, issuer));
    const page = await response.text();
    const [, action = ''] = /action="([^"]+)"/.exec(page) ?? [];
    const [, prompt = ''] = /name="prompt" value="([^"]+)"/.exec(page) ?? [];
    if (!action) throw new Error(`${response.status} ${page.slice(0, 300)}`);
    const body = new URLSearchParams(prompt === 'login' ? { prompt, login: subject, password: 'x' } : { prompt });
    return go(new URL(action, issuer), { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' }, body });
  };
  return go(new URL(start));
}

async function signIn(browser: TestBrowser, subject: string, atProvider?: Map<string, string>) {
  const { location = '' } = await browser.get('/sign-in/provider?to=/me');
  const back = await visitProvider(location, subject, atProvider);
  return { back, answer: await browser.get(back, { headers: { 'sec-fetch-site': 'cross-site' } }) };
}

const invite = async (subject: string, { isVerified = true, email = `${subject}@example.org` } = {}) => {
  accounts.set(subject, { email, isVerified });
  await site.invite({ email });
};

test('someone who is invited joins by a verified address, once, and is known by the account from then on', async () => {
  await invite('ada');
  const browser = site.browser();
  const { answer, back } = await signIn(browser, 'ada');
  expect(answer.status).toBe(200);
  expect(answer.text).toContain('http-equiv="refresh" content="0;url=/me"');
  expect(wordsOf((await browser.get('/me')).text)).toContain('ada@example.org');
  const [started] = await listActs(site.store.dependencies.db, { act: 'session.started', limit: 1 });
  expect(started).toMatchObject({ after: { method: 'oidc' } });
  // The role is that of the invitation, whatever the provider says.
  expect((await browser.get('/people')).status).toBe(403);
  // The same return again, and by another browser.
  expect((await browser.get(back)).status).toBe(403);
  expect((await site.browser().get(back)).status).toBe(403);
  accounts.set('ada', { email: 'renamed@example.org', isVerified: false });
  const again = site.browser();
  expect((await signIn(again, 'ada')).answer.status).toBe(200);
});

test('an address that is not verified, nobody who was invited, and another account with the address of a member are rejected', async () => {
  await invite('unverified', { isVerified: false });
  await invite('bea');
  expect((await signIn(site.browser(), 'bea')).answer.status).toBe(200);
  accounts.set('stranger', { email: 'stranger@example.org', isVerified: true });
  accounts.set('imposter', { email: 'bea@example.org', isVerified: true });
  const before = await countRows(site);
  for (const subject of ['unverified', 'stranger', 'imposter', 'nobody']) {
    const browser = site.browser();
    const { answer } = await signIn(browser, subject);
    expect({ subject, status: answer.status }).toEqual({ subject, status: 403 });
    expect(browser.cookies.has('session')).toBe(false);
  }
  expect(await countRows(site)).toEqual(before);
});

test('a forged or exchanged state, nonce or cookie is rejected', async () => {
  await invite('cleo');
  const before = await countRows(site);
  const seals = new Seals(site.store.dependencies.secret);
  const forge = async (change: (value: { flow: Record<string, unknown> }) => object, secret = seals) => {
    const browser = site.browser();
    const { location = '' } = await browser.get('/sign-in/provider');
    const back = await visitProvider(location, 'cleo');
    const value = seals.openValue<{ flow: Record<string, unknown> }>('provider', browser.cookies.get('provider'), Date.now());
    if (!value) throw new Error('no cookie of the sign-in');
    browser.cookies.set('provider', secret.sealValue('provider', change(value), Date.now() + 60_000));
    return { browser, back };
  };
  const attempts = [
    await forge(({ flow, ...rest }) => ({ ...rest, flow: { ...flow, nonce: 'another' } })),
    await forge(({ flow, ...rest }) => ({ ...rest, flow: { ...flow, state: 'another' } })),
    await forge(({ flow, ...rest }) => ({ ...rest, flow: { ...flow, verifier: 'a'.repeat(43) } })),
    await forge((value) => value, new Seals(Buffer.from('the secret of somebody else'))),
  ];
  for (const { browser, back } of attempts) expect((await browser.get(back)).status).toBe(403);
  // The return of another browser: an attacker who wants the victim to use the attacker's account.
  const [attacker, victim] = [site.browser(), site.browser()];
  const { location = '' } = await attacker.get('/sign-in/provider');
  await victim.get('/sign-in/provider');
  expect((await victim.get(await visitProvider(location, 'cleo'))).status).toBe(403);
  expect(await countRows(site)).toEqual(before);
});

test('signing in again asks the provider to sign the person in, must be the same person, and ends the session before', async () => {
  await invite('dora');
  await invite('eva');
  const atProvider = new Map<string, string>();
  const browser = site.browser();
  await signIn(browser, 'dora', atProvider);
  const before = browser.cookies.get('session');
  const { location = '' } = await browser.get('/sign-in/provider?to=/me');
  expect(new URL(location).searchParams.get('prompt')).toBe('login');
  expect(new URL(location).searchParams.get('max_age')).toBe('0');
  const other = await browser.get(await visitProvider(location, 'eva'));
  expect(other.status).toBe(403);
  expect(browser.cookies.get('session')).toBe(before);
  const { answer } = await signIn(browser, 'dora', atProvider);
  expect(answer.status).toBe(200);
  expect(browser.cookies.get('session')).not.toBe(before);
  const old = site.browser();
  old.cookies.set('session', before ?? '');
  expect((await old.get('/me')).status).toBe(303);
});

test('who has no account binds one with its own verified address from the page You, once, and no other', async () => {
  const { person } = await site.arrive({ email: 'gala@example.org' });
  accounts.set('gala', { email: 'gala@example.org', isVerified: true });
  accounts.set('gala-unverified', { email: 'gala@example.org', isVerified: false });
  accounts.set('other', { email: 'other@example.org', isVerified: true });
  for (const subject of ['gala-unverified', 'other']) {
    const browser = await site.enter(person);
    expect((await browser.get('/me')).text).toContain('/sign-in/provider?to=/me');
    expect((await signIn(browser, subject)).answer.status).toBe(403);
  }
  const browser = await site.enter(person);
  expect((await signIn(browser, 'gala')).answer.status).toBe(200);
  expect((await browser.get('/me')).text).not.toContain('/sign-in/provider?to=/me');
  expect((await signIn(site.browser(), 'gala')).answer.status).toBe(200);
  accounts.set('gala-2', { email: 'gala@example.org', isVerified: true });
  expect((await signIn(browser, 'gala-2')).answer.status).toBe(403);
  // The session has ended while the person was at the provider.
  const { person: late } = await site.arrive({ email: 'hana@example.org' });
  accounts.set('hana', { email: 'hana@example.org', isVerified: true });
  const leaving = await site.enter(late);
  const { location = '' } = await leaving.get('/sign-in/provider?to=/me');
  const back = await visitProvider(location, 'hana');
  await site.store.write('delete from sessions where person_id = $1', late.id);
  expect((await leaving.get(back)).status).toBe(403);
});

test('an ID token with a forged signature is rejected, also where it comes straight from the provider', async () => {
  const [own, forger] = [0, 1].map(() => generateKeyPairSync('rsa', { modulusLength: 2_048 })) as [
    KeyPairKeyObjectResult,
    KeyPairKeyObjectResult,
  ];
  const state: { key: KeyObject; nonce: string } = { key: own.privateKey, nonce: '' };
  const server = createServer((request, response) => {
    const here = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const bodies: Record<string, () => object> = {
      '/.well-known/openid-configuration': () => ({
        issuer: here,
        authorization_endpoint: `${here}/auth`,
        token_endpoint: `${here}/token`,
        jwks_uri: `${here}/jwks`,
        id_token_signing_alg_values_supported: ['RS256'],
      }),
      '/jwks': () => ({ keys: [{ ...own.publicKey.export({ format: 'jwk' }), kid: 'one', alg: 'RS256', use: 'sig' }] }),
      '/token': () => {
        const seconds = Math.floor(Date.now() / 1_000);
        const claims = { iss: here, sub: 'ada', aud: clientId, iat: seconds, exp: seconds + 60, auth_time: seconds, nonce: state.nonce };
        const about = { email: 'ada@example.org', email_verified: true };
        const parts = [
          { alg: 'RS256', kid: 'one' },
          { ...claims, ...about },
        ];
        const signed = parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
        const signature = sign('sha256', Buffer.from(signed), state.key).toString('base64url');
        return { access_token: 'x', token_type: 'bearer', id_token: `${signed}.${signature}` };
      },
    };
    const body = bodies[request.url ?? '']?.();
    response.writeHead(body ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(body ?? {}));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const oidc = { issuer: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, clientId, clientSecret };
  const one = new Provider(oidc, site.url, pino({ level: 'silent' }));
  const finish = async (key: KeyObject) => {
    const { flow } = await one.start({ again: false, nowMs: Date.now() });
    Object.assign(state, { key, nonce: flow.nonce });
    return one.finish(`code=x&state=${flow.state}`, flow, Date.now());
  };
  expect(await finish(own.privateKey)).toMatchObject({ identity: { subject: 'ada' }, email: 'ada@example.org' });
  await expect(finish(forger.privateKey)).rejects.toBeInstanceOf(NotConfirmed);
  server.closeAllConnections();
  server.close();
});

test('who is signed in at the provider is let in without a question, and not as if they had shown again who they are', async () => {
  await invite('finn');
  const atProvider = new Map<string, string>();
  const first = site.browser();
  await signIn(first, 'finn', atProvider);
  const [shown] = await sessionsOf('finn');
  // The provider says it in seconds.
  await sleep(2_100);
  const second = site.browser();
  const { location = '' } = await second.get('/sign-in/provider?to=/me');
  expect(new URL(location).searchParams.get('prompt')).toBeNull();
  const { answer } = await signIn(second, 'finn', atProvider);
  expect(answer.status).toBe(200);
  const [later] = await sessionsOf('finn');
  expect(later?.signedInAt).toEqual(shown?.signedInAt);
  expect(later?.id).not.toBe(shown?.id);
});

/** The newest first. */
async function sessionsOf(subject: string) {
  const { rows } = await site.store.dependencies.db.query<{ id: bigint; signedInAt: Date }>({
    text: `select sessions.id, signed_in_at as "signedInAt" from sessions join people on people.id = person_id
      where email = $1 order by sessions.id desc`,
    values: [`${subject}@example.org`],
  });
  return rows;
}

describe('a provider that is away', () => {
  const awaySite = async (at: string) =>
    openTestConsole({ env: { HOMEWARD_OIDC_ISSUER: at, HOMEWARD_OIDC_CLIENT_ID: clientId, HOMEWARD_OIDC_CLIENT_SECRET: clientSecret } });

  test('leaves the other ways in, in words, and is used again when it responds', async () => {
    const late = disposeAfterAll(await openIdentityProvider());
    const store = await awaySite(late.issuer);
    const browser = store.browser();
    const { status, text, headers } = await browser.get('/sign-in/provider?to=/animals');
    expect([status, headers.get('content-type')]).toEqual([503, 'text/html; charset=utf-8']);
    expect(wordsOf(text)).toContain('Your organisation’s account does not respond at this moment. Sign in with a passkey');
    expect(text).toContain('data-passkey="get" data-url="/sign-in/passkey" data-to="/animals"');
    expect(browser.cookies.has('provider')).toBe(false);
    late.serve(store.url);
    expect((await browser.get('/sign-in/provider')).status).toBe(303);
  });

  test('that accepts connections and says nothing is not waited for longer than a few seconds', async () => {
    const silent = createServer(() => {}).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const store = await awaySite(`http://127.0.0.1:${(silent.address() as AddressInfo).port}`);
    const startedAtMs = performance.now();
    expect((await store.browser().get('/sign-in/provider')).status).toBe(503);
    expect(performance.now() - startedAtMs).toBeLessThan(15_000);
    silent.closeAllConnections();
    silent.close();
  });

  test('is logged once, and once more when it responds', async () => {
    const late = disposeAfterAll(await openIdentityProvider());
    const lines: string[] = [];
    const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
    const oidc = { issuer: late.issuer, clientId, clientSecret };
    const one = new Provider(oidc, site.url, log);
    const start = () => one.start({ again: false, nowMs: Date.now() });
    for (let i = 0; i < 3; i += 1) await expect(start()).rejects.toBeInstanceOf(ProviderAway);
    expect(lines).toEqual([expect.stringContaining('can not be reached')]);
    late.serve(site.url);
    await start();
    await start();
    expect(lines.slice(1)).toEqual([expect.stringContaining('responds again')]);
  });
});
