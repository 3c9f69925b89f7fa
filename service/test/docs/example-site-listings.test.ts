// The example site with profiles, photos and shelters: the list and its filters, the page of an animal, the feed and the sitemap.

import { afterAll, describe, expect, test } from 'vitest';
import { ageText } from '../../../examples/adoption-site/animal-facts.ts';
import { placeholderAddress } from '../../../examples/adoption-site/placeholder.ts';
import { startSite } from '../../../examples/adoption-site/start-site.ts';
import { addPet, createManager } from '../adoption-steps.ts';
import { disposeAfterAll } from '../dispose-after-all.ts';
import { ManualClock } from '../manual-clock.ts';
import { createPhotoStore, makeImage, processAll, sendPhoto } from '../photo-steps.ts';
import { writeProfile } from '../profile-steps.ts';
import { createTestStore } from '../test-store.ts';

/** Ends the script, the element, the attribute and the XML that it is put into, if it is not escaped. */
const hostile = `</script><script>alert(1)</script><!-- ]]> "' <img src=x onerror=alert(2)> &amp; \u2028`;

/** Ids of shelters. The site caches where they are, so they are there from the start. */

const photos = disposeAfterAll(await createPhotoStore());
const { store } = photos;
const manager = await createManager(store);
const galway = await addShelter('By the Bay', '17 Fishmarket Row, 12345 Galway', 53.27, -9.05);
const sligo = await addShelter('Under the Hill', 'Drumcliff, Sligo', 54.27, -8.48);
const site = await startSite({ url: store.url, key: manager.key, port: 0, publicUrl: 'https://secondhome.example' });
afterAll(() => site.close());

async function visit(path: string): Promise<{ status: number; headers: Headers; text: string }> {
  const response = await fetch(site.url + path, { redirect: 'manual' });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

async function addAnimal(name: string, categoryId: number, profile: object = {}): Promise<number> {
  const { id } = await addPet(store, manager, { name, categoryId });
  const { status } = await writeProfile(store, manager, 'PUT', id, profile);
  expect(status).toBe(200);
  return id;
}

async function addShelter(name: string, address: string, latitude: number, longitude: number): Promise<number> {
  const body = { name, address, latitude, longitude };
  return (await store.call<{ id: number }>('POST', '/v1/shelters', { key: manager.key, body })).json.id;
}

const moveTo = (petId: number, shelterId: number) =>
  store.call('PUT', `/v1/pets/${petId}/shelter`, { key: manager.key, body: { shelterId } });

const namesOf = (part: string): string[] => [...part.matchAll(/<h2>([^<]+)<\/h2>/g)].map(([, name = '']) => name);

/** Of the animals that are found. */
const namesIn = (text: string): string[] => namesOf(/ id="animals".*?<\/ul>/s.exec(text)?.[0] ?? '');

/** Of those that are shown in addition. */
const othersIn = (text: string): string[] => namesOf(/ id="others".*?<\/ul>/s.exec(text)?.[0] ?? '');

/** The words of the links to search on, with their addresses. */
const waysIn = (text: string): string[] =>
  [...(/<nav class="ways".*?<\/nav>/s.exec(text)?.[0] ?? '').matchAll(/href="([^"]+)">([^<]+)</g)].map(([, to, words]) => `${words} ${to}`);

/** The chips of the filters that are on: what a screen reader says, and where they lead. */
const chipsIn = (text: string): Array<[name: string, address: string]> => {
  const [, list = ''] = /<ul class="chosen"[^>]*>(.*?)<li><a class="plain"/s.exec(text) ?? [];
  return [...list.matchAll(/<li><a href="([^"]+)">(.*?)<\/a>/gs)].map(([, address = '', inner = '']) => [
    inner.replaceAll(/<[^>]+>/g, ''),
    address.replaceAll('&#38;', '&'),
  ]);
};

/** The address that a browser requests when it sends the form of the list with these choices. */
function addressOfForm(text: string, choices: ReadonlyArray<readonly [string, string]>): string {
  const [form = ''] = /<form class="filters" method="get" action="\/".*?<\/form>/s.exec(text) ?? [];
  const names = new Set([...form.matchAll(/ name="(\w+)"/g)].map(([, name]) => name));
  for (const [name] of choices) expect(names).toContain(name);
  const hidden = [...form.matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]);
  const empty = [...names].filter((name) => name !== 'good' && ![...choices, ...hidden].some(([given]) => given === name));
  return `/?${new URLSearchParams([...hidden, ...choices, ...empty.map((name) => [name ?? '', ''])] as Array<[string, string]>)}`;
}

describe('The list', () => {
  test('is filtered by a form without JavaScript, and finds only what is known to match', async () => {
    await addAnimal('Merry', 1, { sex: 'male', size: 'small', birthDate: '2010-01-01', goodWith: { children: 'yes', cats: 'yes' } });
    await addAnimal('Pippin', 1, { sex: 'male', size: 'small', birthDate: '2010-01-01', goodWith: { children: 'no' } });
    await addAnimal('Estella', 1, { sex: 'female', size: 'large', birthDate: '2010-01-01', goodWith: { children: 'yes' } });
    await addAnimal('Unwritten', 1);
    const { text } = await visit('/?category=1');
    const found = async (...choices: Array<readonly [string, string]>) => {
      const { status, text: page } = await visit(addressOfForm(text, choices));
      return status === 200 ? namesIn(page).sort() : status;
    };
    expect(await found(['good', 'children'])).toEqual(['Estella', 'Merry']);
    expect(await found(['good', 'children'], ['good', 'cats'])).toEqual(['Merry']);
    expect(await found(['sex', 'male'], ['size', 'small'], ['age', 'senior'])).toEqual(['Merry', 'Pippin']);
    expect(await found(['q', 'estella'])).toEqual(['Estella']);
    expect(await found(['sort', 'newest'])).toEqual(['Estella', 'Merry', 'Pippin', 'Unwritten']);
    expect(await found(['q', 'nobody at all'], ['age', 'baby'])).toEqual([]);
    // An order by distance needs a place. Without one it is the usual order.
    expect(await found(['sort', 'distance'])).toHaveLength(4);
  });

  test('says how many animals a choice has, and offers to turn each filter off', async () => {
    const { text } = await visit('/?category=1&good=children&sex=male');
    expect(text).toContain('<option value="male" selected>Male (1)</option>');
    expect(text).toContain('<option value="female">Female</option>');
    expect(text).toContain('<option value="senior">8+ years (1)</option>');
    expect(text).toContain('<option value="baby">Under 1 year (0)</option>');
    expect(text).toMatch(/<a href="\/\?category=1&#38;good=children">Male /);
    expect(text).toMatch(/<a href="\/\?category=1&#38;sex=male">Good with children /);
  });

  test('that finds nobody or few has ways on, with others of the kind, and one that finds more has none', async () => {
    const { text } = await visit('/?category=1&sex=female&near=53.27,-9.05');
    expect(namesIn(text)).toEqual([]);
    expect(waysIn(text)).toEqual([
      'Within 100 km of Galway /?category=1&#38;sex=female&#38;near=53.27%2C-9.05&#38;within=100',
      'Without: Within 50 km of Galway /?category=1&#38;sex=female',
      'Without: Female /?category=1&#38;near=53.27%2C-9.05',
      'All of “Dogs” /?category=1',
      'All kinds of animals /?sex=female&#38;near=53.27%2C-9.05',
    ]);
    expect(othersIn(text)).toEqual(['Unwritten', 'Estella', 'Pippin', 'Merry']);
    const few = (await visit('/?category=1&q=merry')).text;
    expect([namesIn(few), othersIn(few)]).toEqual([['Merry'], ['Unwritten', 'Estella', 'Pippin']]);
    expect(waysIn(few)).toEqual(['All of “Dogs” /?category=1', 'All kinds of animals /?q=%22merry%22']);
    const all = (await visit('/?category=1')).text;
    expect([namesIn(all).length, waysIn(all), othersIn(all)]).toEqual([4, [], []]);
  });

  test('that finds nobody shows others of the kind that was typed, and says what these are not', async () => {
    await addAnimal('Whiskers', 2);
    const { text } = await visit(`/?q=${encodeURIComponent('huge female dog')}`);
    expect(namesIn(text)).toEqual([]);
    expect(othersIn(text)).not.toContain('Whiskers');
    expect(othersIn(text).length).toBeGreaterThan(0);
    expect(text).toContain('>Others of “Dogs”</h2>\n<p class="understood">Dropped from your search: Female, Very large.</p>');
  });

  test('of more than a page says what it has counted', async () => {
    const shelterId = await addShelter('The Crowd', 'Athlone', 53.42, -7.94);
    for (let n = 0; n < 26; n += 1) await moveTo(await addAnimal(`Crowd ${n}`, 1, n < 25 ? { sex: 'female' } : {}), shelterId);
    const { text } = await visit(`/?shelter=${shelterId}`);
    expect(text).toContain('>At least 25 animals</h1><p class="understood">So many have a known sex; the others are not counted.</p>');
  });

  test('with a range of sizes names them, and the range can be turned off', async () => {
    const { text } = await visit(`/?q=${encodeURIComponent('dog not too big')}`);
    expect(text).toMatch(/<a href="\/\?category=1">Small or medium /);
    expect((await visit('/?category=1&sizeMax=medium')).status).toBe(200);
    expect((await visit('/?category=1&sizeMax=enormous')).status).toBe(404);
  });

  test('has a link first that skips the search, the kinds and the tabs, and leads to what was found', async () => {
    const { text } = await visit('/?category=1&q=merry');
    expect(text.indexOf('<a class="skip" href="#results">Skip to the animals</a>')).toBe(text.indexOf('<a '));
    const results = text.indexOf('<div id="results">');
    expect(results).toBeGreaterThan(text.indexOf('aria-label="Status"'));
    expect(results).toBeLessThan(text.indexOf('class="chosen"'));
    expect((await visit('/favourites')).text).toContain('<a class="skip" href="#main">Skip to the content</a>');
  });

  test('says what it has understood of the words, and offers to search for the words', async () => {
    const { text } = await visit('/?category=1&q=small+senior+merry');
    expect(chipsIn(text).map(([name]) => name)).toEqual([
      '“merry” × – remove this filter',
      '8+ years × – remove this filter',
      'Small × – remove this filter',
    ]);
    const words = /<a href="([^"]+)">Search for the words instead/.exec(text)?.[1]?.replaceAll('&#38;', '&') ?? '';
    expect(new URLSearchParams(words.slice(2)).get('q')).toBe('"small senior merry"');
    expect((await visit(words)).text).not.toContain('Your words were understood');
    expect((await visit('/?q=merry')).text).not.toContain('Your words were understood');
    expect((await visit('/?category=1&size=small&q=small')).text).not.toContain('Your words were understood');
  });

  test('has a chip for each part that was understood, and without one the others mean the same', async () => {
    await addAnimal('Ladybird', 1, { sex: 'female', size: 'small', birthDate: '2010-01-01', colors: ['black'], description: 'Shy.' });
    await addAnimal('Sable', 1, { sex: 'female', size: 'large', birthDate: '2010-01-01', colors: ['black'], description: 'Shy.' });
    await addAnimal('Tomcat', 1, { sex: 'male', size: 'small', birthDate: '2010-01-01', colors: ['black'], description: 'Shy.' });
    const typed = await visit(`/?category=1&q=${encodeURIComponent('small female, black, over 10 years, not good with kids, shy')}`);
    expect(namesIn(typed.text)).toEqual(['Ladybird']);
    const chips = chipsIn(typed.text);
    expect(chips.map(([name]) => name.replace(' × – remove this filter', ''))).toEqual([
      '“shy”',
      'Female',
      'Small',
      'Black',
      '10 years or older',
      'Not good with children',
    ]);
    const without = async (name: string) => visit(chips.find(([text]) => text.startsWith(name))?.[1] ?? '');
    const large = await without('Small');
    expect(namesIn(large.text).sort()).toEqual(['Ladybird', 'Sable']);
    expect(chipsIn(large.text).map(([name]) => name)).toEqual(chips.map(([name]) => name).filter((name) => !name.startsWith('Small')));
    expect(namesIn((await without('Female')).text).sort()).toEqual(['Ladybird', 'Tomcat']);
    // The form keeps what has no field of its own.
    const sent = await visit(
      addressOfForm(large.text, [
        ['size', 'large'],
        ['q', '"shy"'],
      ]),
    );
    expect(namesIn(sent.text)).toEqual(['Sable']);
    for (const chip of chips) expect((await visit(chip[1])).status).toBe(200);
    const words = chipsIn((await visit('/?category=1&q=shy+ladybird+small')).text);
    expect(words.map(([name, address]) => [name.slice(0, 10), new URLSearchParams(address.slice(2)).get('q')])).toEqual([
      ['“shy” × – ', '"ladybird"'],
      ['“ladybird”', '"shy"'],
      ['Small × – ', '"shy ladybird"'],
    ]);
    expect(chipsIn((await visit('/?q=not+shy')).text).map(([name]) => name)).toEqual(['“not shy” × – remove this filter']);
  });

  test('says what was corrected, and searches for the word itself', async () => {
    await addAnimal('Nutmeg', 1, { breeds: { primary: 'Labrador' } });
    const { text } = await visit('/?category=1&q=labrodor');
    expect(namesIn(text)).toContain('Nutmeg');
    expect(text).toContain('Showing results for <strong>labrador</strong>.');
    const itself = /<a href="([^"]+)">Search for “labrodor” itself/.exec(text)?.[1]?.replaceAll('&#38;', '&') ?? '';
    const exact = await visit(itself);
    expect([exact.status, namesIn(exact.text), exact.text.includes('Showing results for')]).toEqual([200, [], false]);
    const near = await visit('/?category=1&q=labrador+near+me');
    expect(near.text).toContain('Left out: “near me”.');
    expect((await visit('/?category=1&q=labrador+please')).text).not.toContain('Left out');
  });

  test('without the meaning of a name has the animals with that name', async () => {
    await addAnimal('Ginger', 1, {});
    const { text } = await visit('/?q=ginger');
    const color = chipsIn(text).find(([name]) => name.startsWith('Ginger'));
    expect(namesIn((await visit(color?.[1] ?? '')).text)).toEqual(['Ginger']);
  });

  test.each([
    'age=old',
    'coat=blue',
    'ageMonthsMin=x',
    'ageMonthsMax=5000',
    'spelling=loose',
    'not=',
    'not=price:1',
    'sex=unknown',
    'size=toString',
    'good=everyone',
    'near=here',
    'near=91,0',
    'within=7',
    'sort=price',
    'shelter=x',
  ])('with %s is 404', async (query) => expect((await visit(`/?${query}`)).status).toBe(404));

  test('near a town or a place has distances, the nearest first, and the next page stays near', async () => {
    for (let i = 1; i <= 25; i += 1) await moveTo(await addAnimal(`Gull ${i}`, 4), sligo);
    await moveTo(await addAnimal('Heron', 4), galway);
    const { text } = await visit('/?category=4');
    expect(text).toContain('<option value="53.27,-9.05">Galway</option>');
    const near = await visit(
      addressOfForm(text, [
        ['near', '53.27,-9.05'],
        ['within', '200'],
      ]),
    );
    expect(namesIn(near.text)[0]).toBe('Heron');
    expect(near.text).toMatch(/Heron.*?Less than 1 km away.*?About 117 km away/s);
    const next = /href="([^"]+)" rel="next"/.exec(near.text)?.[1]?.replaceAll('&#38;', '&') ?? '';
    expect(new URLSearchParams(next.slice(2)).get('near')).toBe('53.27,-9.05');
    const second = await visit(next);
    expect([namesIn(second.text).length, second.text.includes('About 117 km away')]).toEqual([2, true]);
    // A browser may send more digits. They go no further than the site.
    const exact = await visit('/?category=4&within=10&near=53.2741234,-9.0491234');
    expect(namesIn(exact.text)).toEqual(['Heron']);
    expect(exact.text).toContain('value="53.27,-9.05" selected');
    expect(exact.text).not.toContain('53.2741234');
  });

  test('shows photos of three widths with their size and a blur, and a silhouette of its kind for an animal without', async () => {
    const id = await addAnimal('Frodo', 5);
    await addAnimal('Sam', 5);
    await sendPhoto(store, manager, id, await makeImage('tan', { width: 1_600, height: 1_200 }));
    await processAll(photos);
    const { text, headers } = await visit('/?category=5');
    const [drawn = '', photographed = ''] = text.split('<li class="card"').slice(1);
    expect(photographed).toContain('<h2>Frodo</h2>');
    const [image = ''] = /<img src="http[^>]*>/.exec(photographed) ?? [];
    const file = `${store.url}/photos/[0-9a-f]{64}.webp`;
    expect(image).toMatch(new RegExp(`srcset="${file} 320w, ${file} 800w, ${file} 1600w"`));
    expect(image).toContain('width="1600" height="1200" alt="Frodo"');
    expect(photographed).toMatch(/<img class="blur" src="data:image\/png;base64,[^"]+" alt=""/);
    expect(headers.get('content-security-policy')).toContain(`img-src 'self' data: ${new URL(store.url).origin};`);
    expect([drawn.includes('<h2>Sam</h2>'), drawn.includes('href="#rodent"'), drawn.includes('<img')]).toEqual([true, true, false]);
    expect((await visit('/favourites')).headers.get('content-security-policy')).toContain("img-src 'self' data:;");
  });

  test('loads the first photo at once and those below the first row when they are scrolled to', async () => {
    const image = await makeImage('olive');
    for (const name of ['A', 'B', 'C', 'D', 'E', 'F']) await sendPhoto(store, manager, await addAnimal(name, 7), image);
    await processAll(photos);
    const images = [...(await visit('/?category=7')).text.matchAll(/<img src="http[^>]*>/g)].map(([tag]) => tag);
    expect(images.map((tag) => [tag.includes('fetchpriority="high"'), tag.includes('loading="lazy"')])).toEqual([
      [true, false],
      ...Array(3).fill([false, false]),
      ...Array(2).fill([false, true]),
    ]);
  });
});

describe("An animal's page", () => {
  test('has the story, the facts, the shelter and every photo, and says what is not known', async () => {
    const id = await addAnimal('Rosie', 2, {
      description: 'Found in a garden.\n\nLikes mushrooms.',
      breeds: { primary: 'Maine Coon', secondary: 'Siamese', mixed: 'yes' },
      birthDate: '2015-05-01',
      sex: 'female',
      size: 'extra_large',
      weightGrams: 6_540,
      goodWith: { children: 'yes', dogs: 'no' },
      vaccinated: 'yes',
      houseTrained: 'no',
      adoptionFee: { amount: 12_050, currency: 'EUR' },
      arrivedOn: '2026-01-05',
    });
    const shelterId = await addShelter('Bag End', 'Hill 1\n1234 Hobbiton', 51, 0);
    await moveTo(id, shelterId);
    const { json: first } = await sendPhoto(store, manager, id, await makeImage('red', { width: 1_600, height: 1_200 }));
    await sendPhoto(store, manager, id, await makeImage('blue'));
    await store.call('PATCH', `/v1/pets/${id}/photos/${first.id}`, { key: manager.key, body: { alt: 'Rosie & a "mushroom"' } });
    await processAll(photos);
    const { text } = await visit(`/animals/${id}`);
    for (const words of [
      '<p>Found in a garden.</p><p>Likes mushrooms.</p>',
      'Maine Coon and Siamese mix',
      'Very large',
      '6.5 kg',
      '€120.50',
    ])
      expect(text).toContain(words);
    expect(text).toMatch(/Children: yes.*Dogs: no<.*Cats: not known yet/s);
    expect([text.includes('Vaccinated'), text.includes('House-trained'), text.includes('Neutered')]).toEqual([true, true, false]);
    expect(text).toContain(`<a href="/?shelter=${shelterId}">All animals of this shelter</a>`);
    expect(text).toContain('alt="Rosie &#38; a &#34;mushroom&#34;"');
    expect(text.match(/<ul class="slides">.*?<\/ul>/s)?.[0].match(/<li id="photo-/g)).toHaveLength(2);
    expect(text).toContain('aria-label="Rosie, photo 2 of 2: enlarge"');
    expect(text).toContain('alt="Rosie, photo 2 of 2"');
    const picture = `${store.url}/photos/[0-9a-f]{64}.webp`;
    expect(text).toMatch(new RegExp(`<meta property="og:image" content="${picture}">`));
    expect(text).toContain('<meta name="twitter:card" content="summary_large_image">');
    expect(text).toContain(`<link rel="canonical" href="https://secondhome.example/animals/${id}">`);
    const data = dataIn(text);
    expect(data).toMatchObject({
      '@type': 'Product',
      name: 'Rosie',
      url: `https://secondhome.example/animals/${id}`,
      offers: {
        price: 120.5,
        priceCurrency: 'EUR',
        availability: 'https://schema.org/InStock',
        seller: { '@type': 'AnimalShelter', name: 'Bag End', geo: { latitude: 51, longitude: 0 } },
      },
    });
  });

  test('of an animal of which nothing is known claims nothing', async () => {
    const id = await addAnimal('Blank', 2);
    const { text } = await visit(`/animals/${id}`);
    for (const heading of ['Good with', 'In short']) expect(text).not.toContain(`<h2>${heading}</h2>`);
    expect(dataIn(text)).not.toHaveProperty('offers');
    expect(text).toContain('Photo coming');
  });
});

test('what a shelter has written stays text in pages, structured data, the feed and the sitemap', async () => {
  const name = hostile.slice(0, 80).replace('\u2028', '');
  const id = await addAnimal(name, 3, { description: hostile, breeds: { primary: hostile.slice(0, 90) }, arrivedOn: '2026-02-03' });
  const shelterId = await addShelter(name, hostile, 50, 1);
  const website = 'http://shelter.example/"onclick="alert(3)';
  await store.call('PATCH', `/v1/shelters/${shelterId}`, { key: manager.key, body: { website } });
  await moveTo(id, shelterId);
  for (const path of [`/animals/${id}`, '/?category=3', '/feed.xml', '/sitemap.xml', `/?q=${encodeURIComponent(hostile)}`]) {
    const { status, text } = await visit(path);
    const scripts = [...text.matchAll(/<script[^>]*>/g)].map(([tag]) => tag);
    expect([path, status, scripts.filter((tag) => !/ src="\/public\/|ld\+json/.test(tag))]).toEqual([path, 200, []]);
    for (const markup of ['<img src=x', '<!--', '"onclick="']) expect([path, text.includes(markup)]).toEqual([path, false]);
  }
  const { text } = await visit(`/animals/${id}`);
  const scripts = [...text.matchAll(/<script[^>]* src="\/public\/\w+\/(\w+)\.js">/g)].map(([, script]) => script);
  expect([scripts, text.match(/<\/script>/g)?.length]).toEqual([['favourites', 'live', 'share'], 4]);
  expect(dataIn(text)).toMatchObject({ name, description: hostile.trim().replaceAll(/\s+/g, ' ') });
});

describe('/feed.xml', () => {
  test('is Atom with the 50 newest animals, each with an id, a date and a picture', async () => {
    const id = await addAnimal('Gaffer', 9, { description: 'Grows potatoes.', arrivedOn: '2026-03-04' });
    await sendPhoto(store, manager, id, await makeImage('green'));
    await processAll(photos);
    for (let i = 0; i < 50; i += 1) await addPet(store, manager, { name: `Late ${i}`, categoryId: 9 });
    await store.call('DELETE', `/v1/pets/${(await addPet(store, manager, { name: 'Gone', categoryId: 9 })).id}`, { key: manager.key });
    await store.call('PATCH', `/v1/pets/${id + 1}`, { key: manager.key, body: { status: 'sold' } });
    const feed = await startSite({ url: store.url, key: manager.key, port: 0, publicUrl: 'https://secondhome.example' });
    try {
      const response = await fetch(`${feed.url}/feed.xml`);
      const text = await response.text();
      expect(response.headers.get('content-type')).toBe('application/atom+xml; charset=utf-8');
      const entries = [...text.matchAll(/<entry>.*?<\/entry>/gs)].map(([entry]) => entry);
      expect([entries.length, entries.at(-1)?.includes('Gaffer')]).toEqual([50, true]);
      expect(new Set(entries.map((entry) => /<id>(.*?)<\/id>/.exec(entry)?.[1])).size).toBe(50);
      const dates = entries.map((entry) => /<updated>(.*?)<\/updated>/.exec(entry)?.[1] ?? '');
      // Those after Gaffer have no date: they came at the same time at the earliest.
      expect(new Set(dates)).toEqual(new Set(['2026-03-04T00:00:00Z']));
      expect(entries.at(-1)).toContain(`<id>https://secondhome.example/animals/${id}</id>`);
      expect(entries.at(-1)).toMatch(/<link rel="enclosure" type="image\/webp" href="http[^"]+\.webp"\/>/);
      expect(text).toContain('<link rel="self" type="application/atom+xml" href="https://secondhome.example/feed.xml"/>');
    } finally {
      await feed.close();
    }
  });
});

test('/sitemap.xml has the list, each category and each available animal, and robots.txt names it', async () => {
  const { status, headers, text } = await visit('/sitemap.xml');
  const addresses = [...text.matchAll(/<loc>(.*?)<\/loc>/g)].map(([, address = '']) => address);
  expect([status, headers.get('content-type')]).toEqual([200, 'application/xml; charset=utf-8']);
  expect(addresses.slice(0, 2)).toEqual(['https://secondhome.example/', 'https://secondhome.example/?category=1']);
  expect(addresses.filter((address) => address.includes('/animals/')).length).toBeGreaterThan(30);
  expect((await visit('/robots.txt')).text).toContain('Sitemap: https://secondhome.example/sitemap.xml');
});

test('every page links the feed, and the list loads the script that asks for the place', async () => {
  const { text } = await visit('/');
  expect(text).toContain('<link rel="alternate" type="application/atom+xml" href="/feed.xml"');
  // The button is shown by the script, which asks the browser only when it is pressed.
  expect(text).toMatch(/<button [^>]*id="near-me" hidden>/);
  const [, script = ''] = /src="(\/public\/\w+\/near\.js)"/.exec(text) ?? [];
  expect((await visit(script)).text).toMatch(/addEventListener\('click'.*getCurrentPosition/s);
});

test('a flood of searches leaves requests for pages without filters', async () => {
  // A clock that stands still, so that no window ends meanwhile.
  await using still = await createTestStore({ clock: new ManualClock(new Date(Date.now() + 3_600_000).toISOString()) });
  const { key } = await still.createKey({ plan: { perMinute: 60, perDay: 1_000 } });
  const flooded = await startSite({ url: still.url, key, port: 0 });
  try {
    const statuses: number[] = [];
    for (let i = 0; i < 40; i += 1) statuses.push((await fetch(`${flooded.url}/?q=word${i}`)).status);
    expect([statuses[0], statuses.at(-1)]).toEqual([200, 503]);
    expect([(await fetch(flooded.url)).status, (await fetch(`${flooded.url}/?category=2`)).status]).toEqual([200, 200]);
  } finally {
    await flooded.close();
  }
});

test('a placeholder that is no ThumbHash is left out', () => {
  expect([placeholderAddress(null), placeholderAddress(''), placeholderAddress('A'.repeat(200))]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

function dataIn(text: string): object {
  const [, json = ''] = /<script type="application\/ld\+json">(.*?)<\/script>/s.exec(text) ?? [];
  return JSON.parse(json) as object;
}

test.each([
  [3, 'less than a week'],
  [7, 'about 1 week'],
  [57, 'about 8 weeks'],
  [111, 'about 15 weeks'],
  [112, 'about 3 months'],
  [400, 'about 13 months'],
  [800, 'about 2 years'],
])('an animal of %i days is %s old', (days, text) => {
  const nowMs = Date.parse('2026-11-20');
  const birthDate = new Date(nowMs - days * 86_400_000).toISOString().slice(0, 10);
  const profile = { birthDate, birthDateIsExact: false } as Parameters<typeof ageText>[0];
  expect(ageText(profile, nowMs)).toBe(text);
});
