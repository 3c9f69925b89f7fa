// A store with an application in every status, and the paths of their pages.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createStore } from '../../sdk/src/index.ts';
import { getBounds } from '../../service/src/access/clients/clients.ts';
import { eraseApplicant } from '../../service/src/adoption/applications/applicants.ts';
import type { PagePurpose } from '../../service/src/adoption/applications/page-tokens.ts';
import { submitApplication } from '../../service/src/adoption/applications/submissions.ts';
import { theService } from '../../service/src/domain/actor.ts';
import { defaultScopes } from '../../service/src/domain/scopes.ts';
import { HttpClient } from '../../testkit/http.ts';
import { Staff } from '../../testkit/staff.ts';
import type { Key, Store } from '../../testkit/store.ts';
import { addPictures, untilPicturesAreReady } from '../../tools/dev-seed.ts';

const limits = { perMinute: 100_000, perDay: 1_000_000 };
/** As long as a name may be, and without a place to break it. */
const longName = `Graf Biscuit von ${'Hohenlohe'.repeat(9)}`;

export interface PageCast extends AsyncDisposable {
  /** Of the store, without /v1. */
  readonly url: string;
  /** By what they show. */
  readonly pages: Readonly<Record<string, string>>;
  /** The page of a new application, by its link for a purpose; the address is not confirmed yet. */
  addUnconfirmed(purpose: PagePurpose): Promise<string>;
  statusOf(page: string): Promise<string>;
  /** The Referer of each request to the shelter's website; empty: it had none. */
  readonly referers: readonly string[];
  /** The website of the shelter. */
  readonly website: string;
}

/** With a photo of the last animal, which needs a worker. */
export async function openCast(store: Store, { withPhoto }: { withPhoto: boolean }): Promise<PageCast> {
  await using resources = new AsyncDisposableStack();
  const staff = resources.use(await Staff.of(store));
  const http = resources.use(new HttpClient(4));
  const [partner, manager] = [
    await staff.createKey('a partner', limits),
    await staff.createKey('the staff', limits, [...defaultScopes, 'store:manage']),
  ];
  const url = (store.processes[0]?.url ?? '').replace(/\/v1$/, '');
  const { db, catalogue, pageTokens } = staff.dependencies;
  const call = async (method: string, path: string, { key }: Key, body?: object): Promise<{ id: number; orderId: number }> => {
    const { status, text } = await http.send(url + path, { method, key, body });
    if (status >= 300) throw new Error(`${method} ${path} is ${status}: ${text}`);
    return JSON.parse(text);
  };
  const pathTo = (id: number | bigint, purpose: PagePurpose = 'see') => `/a/${pageTokens.write({ id: BigInt(id), purpose, number: 0n })}`;
  const referers: string[] = [];
  const website = await openWebsite(resources, referers);
  await describeShelter(call, manager, website);

  let adopters = 0;
  const newAdopter = () => ({ name: 'Ada Lovelace', email: `ada.${adopters++}@example.org` });
  const apply = async (...acts: string[]): Promise<number> => {
    const { id: petId } = await call('POST', '/v1/pets', partner, { name: 'Biscuit', categoryId: 1 });
    const { id } = await call('POST', '/v1/applications', partner, { petId, adopter: newAdopter() });
    for (const act of acts)
      await call('POST', `/v1/applications/${id}/${act}`, manager, act === 'decline' ? { message: declined } : undefined);
    return id;
  };
  const write = (text: string, ...values: unknown[]) => db.write({ text, values });
  const addUnconfirmed = async (purpose: PagePurpose): Promise<string> => {
    const { id: petId } = await call('POST', '/v1/pets', partner, { name: 'Biscuit', categoryId: 1 });
    const clientId = BigInt(partner.clientId);
    const actor = { clientId, keyId: BigInt(partner.id), personId: null, shelterId: null, scopes: defaultScopes, authority: null };
    const terms = { clientId, bounds: await getBounds(db, clientId), mails: true };
    const given = { petId: BigInt(petId), adopter: newAdopter() };
    return pathTo((await db.transaction((tx) => submitApplication(tx, given, actor, terms), theService)).id, purpose);
  };
  const closed = async (reason: string): Promise<string> => {
    const id = await apply();
    await write(`update applications set status = 'closed', closed_reason = $2 where id = $1`, id, reason);
    return pathTo(id);
  };
  const completed = async (): Promise<string> => {
    const id = await apply('accept');
    const { orderId } = await call('GET', `/v1/applications/${id}`, manager);
    await call('POST', `/v1/store/orders/${orderId}/complete`, manager);
    return pathTo(id);
  };
  const erased = async (): Promise<string> => {
    const id = await apply();
    await eraseApplicant({ db, catalogue }, () => true, BigInt(id), 'adopter');
    return pathTo(id);
  };
  const gone = async (): Promise<string> => {
    const page = await addUnconfirmed('confirm');
    await write(`update pets set status = 'sold' where id = (select pet_id from applications where id = $1)`, idOf(page));
    return page;
  };
  const withLongName = async (): Promise<string> => {
    const id = await apply('review');
    await write('update pets set name = $2 where id = (select pet_id from applications where id = $1)', id, longName);
    return pathTo(id);
  };
  const idOf = (page: string) => pageTokens.read(page.slice('/a/'.length))?.id;
  const accepted = pathTo(await apply('accept'));
  const pages: Record<string, string> = {
    unconfirmed: await addUnconfirmed('see'),
    confirm: await addUnconfirmed('confirm'),
    'confirm, sold': await gone(),
    reviewing: pathTo(await apply('review')),
    accepted,
    'withdraw?': `${accepted}/withdraw`,
    'erase?': `${accepted}/erase`,
    completed: await completed(),
    declined: pathTo(await apply('decline')),
    withdrawn: pathTo(await apply('withdraw')),
    'closed, adopted': await closed('adopted'),
    'closed, unavailable': await closed('unavailable'),
    'closed, cancelled': await closed('cancelled'),
    'closed, unanswered': await closed('unanswered'),
    erased: await erased(),
    'a long name': await withLongName(),
    nowhere: '/a/nowhere',
    submitted: pathTo(await apply()),
  };
  if (withPhoto) {
    await addPictures(createStore({ url, key: manager.key }), { animalsMax: 1 });
    await untilPicturesAreReady(createStore({ url, key: manager.key }), 1);
  }
  const opened = resources.move();
  return {
    url,
    pages,
    addUnconfirmed,
    statusOf: async (page) =>
      (await db.query<{ status: string }>({ text: 'select status from applications where id = $1', values: [idOf(page)] })).rows[0]
        ?.status ?? 'deleted',
    referers,
    website,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

const declined = `Thank you for your interest in Biscuit.

He needs a home without cats, since he chases them. Please have a look at Pixel, who likes them.`;

function describeShelter(
  call: (method: string, path: string, key: Key, body: object) => Promise<unknown>,
  manager: Key,
  website: string,
): Promise<unknown> {
  return call('PATCH', '/v1/shelters/1', manager, {
    name: 'Danube Shelter',
    email: 'hello@danube.example',
    phone: '+43 1 555 01 23',
    address: 'Handelskai 1\n1020 Vienna\nAustria',
    website,
    timezone: 'Europe/Vienna',
  });
}

/** The website of the shelter, which notes where its visitors came from. */
async function openWebsite(resources: AsyncDisposableStack, referers: string[]): Promise<string> {
  const server = createServer(({ url, headers }, response) => {
    if (url === '/') referers.push(headers.referer ?? '');
    response.setHeader('content-type', 'text/html').end('<!doctype html><title>Danube Shelter</title>');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  resources.defer(async () => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}
