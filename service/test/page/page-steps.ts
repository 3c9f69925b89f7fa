// Setup steps for tests about the pages of adopters.

import { getBounds } from '../../src/access/clients/clients.ts';
import type { PagePurpose } from '../../src/adoption/applications/page-tokens.ts';
import { submitApplication } from '../../src/adoption/applications/submissions.ts';
import { theService } from '../../src/domain/actor.ts';
import { defaultScopes } from '../../src/domain/scopes.ts';
import { addPet, adopterOf } from '../adoption-steps.ts';
import type { TestKey, TestResponse, TestStore } from '../test-store.ts';

/** For a store whose pages are opened more often than an address may. */
export const manyAddresses = { HOMEWARD_TRUSTED_PROXIES: '127.0.0.1' };
/** For a store that sends mail. Nobody listens there: tests read what would be sent. */
export const mailEnv = {
  HOMEWARD_SMTP_URL: 'smtp://127.0.0.1:9',
  HOMEWARD_MAIL_FROM: 'no-reply@store.example',
  HOMEWARD_PUBLIC_URL: 'https://store.example',
};
let visits = 0;
/** Of somebody who has not been here before. */
const newAddress = () => `10.${visits >> 16}.${(visits >> 8) & 255}.${visits++ & 255}`;

export interface Visit {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly raw?: string;
}

/** Sends a request as a browser does that has no key. */
export const visit = (store: TestStore, path: string, { method = 'GET', headers, raw }: Visit = {}): Promise<TestResponse<unknown>> =>
  store.call(method, path, { ...(raw !== undefined && { raw }), headers: { 'x-forwarded-for': newAddress(), ...headers } });

/** Presses the button of a form. */
export const press = (store: TestStore, path: string, headers: Record<string, string> = {}): Promise<TestResponse<unknown>> =>
  visit(store, path, {
    method: 'POST',
    raw: '',
    headers: { 'content-type': 'application/x-www-form-urlencoded', origin: 'null', 'sec-fetch-site': 'same-origin', ...headers },
  });

export const pathTo = (store: TestStore, id: number | bigint, purpose: PagePurpose = 'see', number = 0n): string =>
  `/a/${store.dependencies.pageTokens.write({ id: BigInt(id), purpose, number })}`;

/** An application whose adopter has not confirmed the address yet. */
export async function applyUnconfirmed(
  store: TestStore,
  { clientId, id: keyId }: TestKey,
  petId: number,
  adopter: { name: string; email: string; phone?: string } = adopterOf(petId),
): Promise<bigint> {
  const { db } = store.dependencies;
  const actor = { clientId, keyId, personId: null, shelterId: null, scopes: defaultScopes, authority: null };
  const terms = { clientId, bounds: await getBounds(db, clientId), mails: true };
  const given = { petId: BigInt(petId), adopter };
  return (await db.transaction((tx) => submitApplication(tx, given, actor, terms), theService)).id;
}

export async function addUnconfirmed(store: TestStore, key: TestKey): Promise<bigint> {
  return applyUnconfirmed(store, key, (await addPet(store, key)).id);
}

export async function statusOf(store: TestStore, id: number | bigint): Promise<string | undefined> {
  return (await store.read<{ status: string }>('select status from applications where id = $1', id))[0]?.status;
}

/** The text of a page as it is read, without what isolates names. */
export const wordsOf = (page: string): string =>
  page
    .replace(/^.*<body>/s, '')
    .replaceAll(/<\/?bdi>/g, '')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)))
    .replaceAll(/\s+/g, ' ')
    .trim();

/** Where the links and forms of a page lead, as a browser resolves them. */
export const linksOf = (page: string, path: string): string[] =>
  [...page.matchAll(/(?:href|action)="([^"]*)"/g)]
    .map(([, link = '']) => new URL(link, `http://store.example${path}`))
    .filter(({ protocol, host }) => protocol === 'http:' && host === 'store.example')
    .map(({ pathname }) => pathname);

/** Where a redirect from a path leads. */
export const targetOf = ({ headers }: Pick<TestResponse<unknown>, 'headers'>, path: string): string =>
  new URL(String(headers['location']), `http://store.example${path}`).pathname;
