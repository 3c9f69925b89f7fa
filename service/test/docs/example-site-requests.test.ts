// The example site for a visitor who asks for animals: what the store rejects, the page of a request, and the visitor's own animals and
// favourites.
import { afterAll, describe, expect, test } from 'vitest';
import { startSite } from '../../../examples/adoption-site/start-site.ts';
import type { orderErrors } from '../../src/adoption/orders/orders.ts';
import { act, actAll, addPet, createManager, placeOrder } from '../adoption-steps.ts';
import { disposeAfterAll } from '../dispose-after-all.ts';
import { writeProfile } from '../profile-steps.ts';
import { createTestStore } from '../test-store.ts';

const store = disposeAfterAll(await createTestStore());
const [manager, key, other] = [await createManager(store), await store.createKey(), await store.createKey()];
const vienna = await addShelter({ name: 'Danube Shelter', timezone: 'Europe/Vienna', phone: '+43 1 555 01 23' });
const choosing = await addShelter({ name: 'The Choosing House', adoption: 'application' });
const site = await startSite({ url: store.url, key: key.key, port: 0 });
afterAll(() => site.close());

async function addShelter(body: object): Promise<number> {
  return (await store.call<{ id: number }>('POST', '/v1/shelters', { key: manager.key, body })).json.id;
}

async function addAnimal(shelterId = vienna, name = 'Biscuit'): Promise<number> {
  const { id } = await addPet(store, manager, { name });
  await store.call('PUT', `/v1/pets/${id}/shelter`, { key: manager.key, body: { shelterId } });
  return id;
}

/** A browser: it sends the cookies that it has got. */
class Visitor {
  #cookie = '';

  async open(path: string, init: RequestInit = {}): Promise<{ status: number; location: string; text: string; cookie: string }> {
    const headers = { ...(init.headers as Record<string, string>), ...(this.#cookie && { cookie: this.#cookie }) };
    const response = await fetch(site.url + path, { redirect: 'manual', ...init, headers });
    const [cookie = ''] = response.headers.getSetCookie();
    if (cookie) this.#cookie = cookie.split(';')[0] ?? '';
    return { status: response.status, location: response.headers.get('location') ?? '', text: await response.text(), cookie };
  }

  ask(petId: number, email = `ada.${petId}@example.org`, attempt = crypto.randomUUID()) {
    const body = new URLSearchParams({ attempt, name: 'Ada Lovelace', email });
    return this.open(`/animals/${petId}`, { method: 'POST', headers: { origin: site.url }, body });
  }

  press(address: string) {
    return this.open(address, { method: 'POST', headers: { origin: site.url }, body: new URLSearchParams() });
  }
}

/** How a visitor gets each error of the operation. One that is missing here does not compile. */
const provocations: Readonly<
  Record<(typeof orderErrors.place)[number], () => Promise<readonly [status: number, says: string, text: string]>>
> = {
  async pet_not_found() {
    const id = await addAnimal();
    const visitor = new Visitor();
    await visitor.open(`/animals/${id}`);
    await store.call('DELETE', `/v1/pets/${id}`, { key: manager.key });
    const { status, text } = await visitor.ask(id);
    return [status, 'No longer listed here', text];
  },
  async pet_not_available() {
    const id = await addAnimal();
    const visitor = new Visitor();
    await visitor.open(`/animals/${id}`);
    await placeOrder(store, other, id);
    const { status, text } = await visitor.ask(id);
    return [status, 'Someone was faster', text];
  },
  async pet_on_hold() {
    const id = await addAnimal();
    const visitor = new Visitor();
    await visitor.open(`/animals/${id}`);
    await store.call('PUT', `/v1/pets/${id}/hold`, { key: manager.key, body: { reason: 'medical' } });
    const { status, text } = await visitor.ask(id);
    return [status, 'is being treated', text];
  },
  async orders_by_application() {
    const { status, text } = await new Visitor().ask(await addAnimal(choosing));
    return [status, 'One more step', text];
  },
  async open_order_limit() {
    const visitor = new Visitor();
    for (const name of ['One', 'Two', 'Three'])
      expect((await visitor.ask(await addAnimal(vienna, name), 'fourth@example.org')).status).toBe(303);
    const { status, text } = await visitor.ask(await addAnimal(vienna, 'Four'), 'fourth@example.org');
    const listed = [...text.matchAll(/<a href="(\/adoptions\/[^"]+)">(\w+): Reserved for you<\/a>/g)].map(([, , name]) => name);
    expect(listed).toEqual(['Three', 'Two', 'One']);
    expect(text).toContain('value="fourth@example.org"');
    return [status, 'Too many requests are open', text];
  },
};

test.each(Object.entries(provocations))('%s is said in words, and is no 500', async (_, provoke) => {
  const [status, says, text] = await provoke();
  expect(status).toBeOneOf([404, 409]);
  expect(text).toContain(says);
});

describe('The page of a request', () => {
  test("has the deadline in the shelter's time, how to reach the shelter, and a way to cancel after a confirmation", async () => {
    const id = await addAnimal();
    const visitor = new Visitor();
    const { location } = await visitor.ask(id);
    const page = await visitor.open(location);
    expect(page.text).toMatch(/until <strong><time datetime="[^"]+">[A-Z][a-z]+day \d+ [A-Z][a-z]+ at \d\d:\d\d \(Vienna time\)<\/time>/);
    expect(page.text).toContain('href="tel:+4315550123"');
    expect((await visitor.open(`${location}/cancel`)).text).toContain('Yes, cancel it');
    const [order] = (await store.call<Array<{ id: number; status: string }>>('GET', `/v1/store/orders?petId=${id}`, { key: key.key })).json;
    expect(order?.status).toBe('placed');
    expect((await visitor.press(`${location}/cancel`)).location).toBe(location);
    expect((await visitor.open(location)).text).toContain('You cancelled this request.');
    // It has ended: pressing again changes nothing.
    expect((await visitor.press(`${location}/cancel`)).status).toBe(303);
    expect((await visitor.open(location)).text).toContain('You cancelled this request.');
    expect((await visitor.open(`/animals/${id}`)).text).toContain('Ask to adopt Biscuit');
  });

  test('that the visitor has cancelled says so in their browser, and one that the shelter has cancelled does not', async () => {
    const [visitor, stranger] = [new Visitor(), new Visitor()];
    const own = (await visitor.ask(await addAnimal())).location;
    const theirs = (await visitor.ask(await addAnimal(vienna, 'Merry'))).location;
    await visitor.press(`${own}/cancel`);
    await visitor.open(theirs);
    expect((await visitor.open(own)).text).toContain('You cancelled this request.');
    expect((await stranger.open(own)).text).toContain('This request was cancelled.');
    // The page of an open request waits for news, and one that was cancelled does not.
    expect([(await visitor.open(theirs)).text, (await visitor.open(own)).text].map((text) => text.includes('data-order='))).toEqual([
      true,
      false,
    ]);
    expect((await act(store, manager, Number(/\/(\d+)-/.exec(theirs)?.[1]), 'cancel')).status).toBe(200);
    // The press is too late: it was the shelter.
    await visitor.press(`${theirs}/cancel`);
    expect((await visitor.open(theirs)).text).toContain('This request was cancelled.');
  });

  test('without a time zone of the shelter has the deadline in UTC, which a script shows in the time of the visitor', async () => {
    const visitor = new Visitor();
    const { text } = await visitor.open((await visitor.ask((await addPet(store, manager)).id)).location);
    expect(text).toMatch(/<time datetime="[^"]+" data-local>[^<]+ \(UTC\)<\/time>/);
    expect(text).toMatch(/src="\/public\/\w+\/times\.js"/);
  });
});

describe("The visitor's own animal", () => {
  test('does not read as promised to them, and does to others', async () => {
    const id = await addAnimal(vienna, 'Merry');
    const visitor = new Visitor();
    const { location, cookie } = await visitor.ask(id);
    expect(cookie).toMatch(/^requests=o:\d+:\d+-[\w-]{22}; Path=\/; HttpOnly; SameSite=Lax$/);
    const [own, others] = [await visitor.open(`/animals/${id}`), await new Visitor().open(`/animals/${id}`)];
    expect(own.text).toContain(`Merry is reserved for you. <a href="${location}">`);
    expect([own.text.includes('Promised'), own.text.includes('promised to someone'), own.text.includes('<form')]).toEqual([
      false,
      false,
      false,
    ]);
    expect(others.text).toContain('Merry is promised to someone.');
    const list = await visitor.open('/?status=pending');
    expect(list.text).toMatch(/data-own><a[^>]*>(?:(?!<li).)*<h2>Merry<\/h2>(?:(?!<li).)*Reserved for you/s);
  });

  test('reads as promised again once the request has ended and someone else has asked', async () => {
    const id = await addAnimal();
    const visitor = new Visitor();
    const { location } = await visitor.ask(id);
    expect((await visitor.press(`${location}/cancel`)).status).toBe(303);
    await placeOrder(store, other, id);
    await expect.poll(async () => (await visitor.open(`/animals/${id}`)).text, { timeout: 5_000 }).toContain('promised to someone');
  });

  test('is not told by a cookie that this site did not sign', async () => {
    const id = await addAnimal();
    const { id: orderId } = await placeOrder(store, key, id);
    for (const cookie of [`requests=o:${id}:${orderId}-AAAAAAAAAAAAAAAAAAAAAA`, 'requests=:::', `requests=${'o:1:1-x.'.repeat(500)}`]) {
      const { status, text } = await new Visitor().open(`/animals/${id}`, { headers: { cookie } });
      expect([cookie.slice(0, 40), status, text.includes('reserved for you')]).toEqual([cookie.slice(0, 40), 200, false]);
    }
  });

  test('that was adopted says so', async () => {
    const id = await addAnimal();
    const visitor = new Visitor();
    const { location } = await visitor.ask(id);
    const orderId = Number(/\/(\d+)-/.exec(location)?.[1]);
    await actAll(store, manager, orderId, 'approve', 'complete');
    expect((await act(store, manager, orderId, 'approve')).status).toBe(409);
    await expect.poll(async () => (await visitor.open(location)).text, { timeout: 5_000 }).toContain('You have adopted.');
    await expect.poll(async () => (await visitor.open(`/animals/${id}`)).text, { timeout: 5_000 }).toContain('Adopted by you');
  });
});

describe('/favourites', () => {
  test('has the animals of the address in its order, and says how many are no longer listed', async () => {
    const [first, second, gone] = [await addAnimal(vienna, 'First'), await addAnimal(vienna, 'Second'), await addAnimal()];
    await store.call('DELETE', `/v1/pets/${gone}`, { key: manager.key });
    await placeOrder(store, other, second);
    const { status, text } = await new Visitor().open(`/favourites?id=${second}&id=${gone}&id=${first}&id=x&id=${second}`);
    expect([status, [...text.matchAll(/<h2>([^<]+)<\/h2>/g)].map(([, name]) => name)]).toEqual([200, ['Second', 'First']]);
    expect([text.includes('One animal is no longer listed here.'), text.includes('found a home')]).toEqual([true, false]);
    expect(text).toContain('data-status="pending">Promised');
  });

  test('of more animals than a browser stores has the first ones', async () => {
    const ids = Array.from({ length: 60 }, (_, index) => `id=${900_000 + index}`);
    expect((await new Visitor().open(`/favourites?${ids.join('&')}`)).text).toContain('50 animals are no longer listed here.');
  });

  test('without animals says what to do', async () => {
    const { status, text } = await new Visitor().open('/favourites');
    expect([status, text.includes('Press the heart'), text.includes('<noscript>')]).toEqual([200, true, true]);
  });
});

test('animals that belong together link each other, and the request is for one', async () => {
  const [pip, squeak] = [await addAnimal(vienna, 'Pip'), await addAnimal(vienna, 'Squeak')];
  await writeProfile(store, manager, 'PUT', pip, { bondedWith: [squeak], tags: ['calm'], videoUrl: 'https://video.example/pip' });
  const { text } = await new Visitor().open(`/animals/${pip}`);
  expect(text).toMatch(new RegExp(`Must be adopted together</h2>.*Pip and Squeak belong together.*<a href="/animals/${squeak}">`, 's'));
  expect([text.includes('<li>calm</li>'), text.includes('<a href="https://video.example/pip" rel="noopener nofollow">')]).toEqual([
    true,
    true,
  ]);
});

describe('An animal that is held', () => {
  const hold = (id: number, body: object) => store.call('PUT', `/v1/pets/${id}/hold`, { key: manager.key, body });

  test('does not read as promised in lists, on its page and in structured data', async () => {
    const quiet = await addShelter({ name: 'The Quiet Yard' });
    const [ill, odd] = [await addAnimal(quiet, 'Willow'), await addAnimal(quiet, 'Quirk')];
    await writeProfile(store, manager, 'PUT', ill, { adoptionFee: { amount: 100, currency: 'EUR' } });
    await hold(ill, { reason: 'medical', until: '2030-12-01T09:00:00Z', note: 'Stitches' });
    await hold(odd, { reason: 'behaviour' });
    const { text: page } = await new Visitor().open(`/animals/${ill}`);
    expect(page).toContain(
      'Willow is being treated.</p><p>That is expected to last until 1 December 2030. Nobody can ask for Willow meanwhile.',
    );
    expect(page).toContain('"availability":"https://schema.org/OutOfStock"');
    expect(page).not.toMatch(/promised|reserved|Stitches/i);
    expect((await new Visitor().open(`/animals/${odd}`)).text).toContain('Quirk is not ready yet.');
    const { text: list } = await new Visitor().open(`/?status=pending&shelter=${quiet}`);
    for (const [id, words] of [
      [ill, 'Being treated'],
      [odd, 'Not ready yet'],
    ])
      expect(list).toMatch(new RegExp(`data-animal="${id}" data-status="held"(?:(?!</li>).)*data-status="held">${words}<`, 's'));
  });

  test('can be applied for where the shelter takes applications', async () => {
    const id = await addAnimal(choosing, 'Bramble');
    await hold(id, { reason: 'stray' });
    const { text } = await new Visitor().open(`/animals/${id}`);
    expect(text).toContain('Bramble waits for its owner.</p><p>You can apply already: the shelter chooses when Bramble is ready.');
    expect(text).toContain(`href="/animals/${id}/apply"`);
    expect(text).not.toContain('considered for someone');
    expect((await new Visitor().open(`/animals/${id}/apply`)).status).toBe(200);
  });
});
