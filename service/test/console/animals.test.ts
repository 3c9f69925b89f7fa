import { beforeAll, describe, expect, test } from 'vitest';
import { getProfile } from '../../src/animals/profiles/profiles.ts';
import { profileForm } from '../../src/console/animals/profile-rows.ts';
import { addPet, createManager, placeOrder } from '../adoption-steps.ts';
import { addAnimal, addShelter } from './console-steps.ts';
import { hiddenOf, openTestConsole, type TestBrowser, wordsOf } from './test-console.ts';

const site = await openTestConsole();
const { db } = site.store.dependencies;
const shelterId = await addShelter(site, 'Danube Shelter', 'Europe/Vienna');
const otherShelterId = await addShelter(site, 'Alpine Shelter', 'Europe/Vienna');
const staff = await site.arrive({ role: 'staff', shelterId, name: 'Ada' });
const volunteer = await site.arrive({ role: 'volunteer', shelterId });
const other = await site.arrive({ role: 'admin', shelterId: otherShelterId });
const manager = await site.arrive({ role: 'staff', name: 'Mia' });

const add = (name = 'Biscuit', more: Partial<Parameters<typeof addAnimal>[1]> = {}) => addAnimal(site, { shelterId, name, ...more });
const statusOf = async (id: bigint) =>
  (
    await site.store.read<{ status: string; removed: boolean }>(
      'select status, removed_at is not null as removed from pets where id = $1',
      id,
    )
  )[0];
const wordsAt = async (browser: TestBrowser, path: string) => wordsOf((await browser.open(path)).text);
const namesIn = (page: string) => [...page.matchAll(/data-row><bdi>([^<]*)</g)].map(([, name]) => name);

const nextOf = (page: string) => /href="([^"]*)">Next page/.exec(page)?.[1]?.replaceAll('&#38;', '&');

describe('the list', () => {
  test('a person of a shelter finds its animals of every status, and none of another one', async () => {
    await add('Sold one', { status: 'sold' });
    await add('Pending one', { status: 'pending' });
    await addAnimal(site, { shelterId: otherShelterId, name: 'Stranger' });
    const names = namesIn((await staff.get('/animals')).text);
    expect(names).toEqual(expect.arrayContaining(['Sold one', 'Pending one']));
    expect(names).not.toContain('Stranger');
    expect(namesIn((await staff.get(`/animals?shelter=${otherShelterId}`)).text)).not.toContain('Stranger');
    expect(namesIn((await staff.get('/animals?q=stranger')).text)).toEqual([]);
    expect(namesIn((await manager.get(`/animals?shelter=${otherShelterId}`)).text)).toEqual(['Stranger']);
  });

  test('filters by status, hold, category and missing photos, and says what is not there', async () => {
    const place = await addShelter(site, 'Filters', 'UTC');
    const ada = await site.arrive({ shelterId: place });
    const [first, held] = [await add('Apple', { shelterId: place }), await add('Berry', { shelterId: place, categoryId: 2n })];
    await add('Cherry', { shelterId: place, status: 'sold' });
    await ada.submit(`/animals/${held}/hold`, `/animals/${held}/hold/save`, { reason: 'trial' });
    await site.store.write(
      `insert into photos (pet_id, client_id, position, status, original_hash, original_name, width, height, placeholder, files)
        values ($1, (select min(id) from clients), 0, 'ready', repeat('a', 64), 'a', 1, 1, 'a', '[{"width": 320, "height": 240, "hash": "abc"}]')`,
      first,
    );
    const find = async (query: string) => namesIn((await ada.get(`/animals?${query}`)).text);
    expect(await find('')).toEqual(['Cherry', 'Berry', 'Apple']);
    expect(await find('status=available')).toEqual(['Apple']);
    expect(await find('status=pending')).toEqual(['Berry']);
    expect(await find('status=held')).toEqual(['Berry']);
    expect(await find('status=held&category=1')).toEqual([]);
    expect(await find('category=2')).toEqual(['Berry']);
    expect(await find('photo=none')).toEqual(['Cherry', 'Berry']);
    expect(await find('photo=none&status=sold')).toEqual(['Cherry']);
    expect(await find(`q=${held}`)).toEqual(['Berry']);
    expect(await find('q=berry&status=held')).toEqual(['Berry']);
    expect(await find('q=apple&photo=none')).toEqual([]);
    expect((await ada.get('/animals')).text).toContain('/abc.webp');
    expect(await wordsAt(ada, '/animals')).toContain('All Available 1 Pending 1 On hold 1 Adopted 1');
    expect(await wordsAt(ada, '/animals?q=zzzz')).toContain('No animal fits');
    const newcomer = await site.arrive({ shelterId: await addShelter(site, 'Empty', 'UTC') });
    expect(await wordsAt(newcomer, '/animals')).toContain('No animals yet');
  });

  test('a search waits for those of colleagues, and says in words that its turn has not come', async () => {
    const place = await addShelter(site, 'Busy', 'UTC');
    await addAnimal(site, { shelterId: place, name: 'Found' });
    const ada = await site.arrive({ shelterId: place });
    const [client] = await site.store.read<{ id: bigint }>('select client_id as id from staff_clients where shelter_id = $1', place);
    const owner = { clientId: client?.id ?? 0n, personId: 0n };
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const running = [1, 2].map(() => db.search(() => released, owner, { idle_in_transaction_session_timeout: 0 }));
    const [busy, atDesk] = await Promise.all(['/animals?q=found', '/applications/new?pet=found'].map((path) => ada.get(path)));
    expect([busy?.status, atDesk?.status]).toEqual([200, 200]);
    for (const page of [busy, atDesk]) {
      expect(wordsOf(page?.text ?? '')).toContain('So many of your colleagues are searching');
      expect(page?.text).toContain('value="found"');
    }
    // Pages of one person wait for each other before that: two of each of four.
    const colleagues = await Promise.all([1, 2, 3].map(() => site.arrive({ shelterId: place })));
    const late = [ada, ...colleagues].flatMap((one) => [one.get('/animals?q=found'), one.get('/animals?q=found')]);
    await expect.poll(() => db.state.waiting.searches).toBe(8);
    release();
    for (const page of await Promise.all([...late])) expect(namesIn(page.text)).toEqual(['Found']);
    await Promise.all(running);
  }, 20_000);

  test('is read in pages, each animal once, also with words and beyond what is looked through', async () => {
    const place = await addShelter(site, 'Pages', 'UTC');
    const ada = await site.arrive({ shelterId: place });
    await site.store.write(
      `insert into pets (name, category_id, status, shelter_id) select 'Number ' || i, 1, (array['available', 'sold'])[1 + i % 2]::pet_status, $1 from generate_series(1, 120) i`,
      place,
    );
    for (const query of ['', 'q=number', 'photo=none']) {
      const names: Array<string | undefined> = [];
      let next: string | undefined = `/animals?${query}`;
      for (let pages = 0; next !== undefined && pages < 5; pages += 1) {
        const { text } = await ada.get(next);
        names.push(...namesIn(text));
        next = nextOf(text);
      }
      expect(new Set(names).size).toBe(120);
      expect(names).toHaveLength(120);
    }
    await site.store.write(
      `insert into pets (name, category_id, status, shelter_id) select 'More ' || i, 2, 'available', $1 from generate_series(1, 2500) i`,
      place,
    );
    const { text } = await ada.get('/animals?category=1');
    expect(wordsOf(text)).toContain('None so far');
    let last = text;
    for (let pages = 0; namesIn(last).length === 0 && pages < 5; pages += 1) last = (await ada.get(nextOf(last) ?? '')).text;
    expect(namesIn(last)).toHaveLength(50);
    expect(await wordsAt(ada, '/animals')).toContain('Available 1,000+');
  });

  test('a new animal is added with a name and a category, and the next one can be typed at once', async () => {
    expect((await volunteer.open('/animals')).text).toContain('<option value="" selected>Choose</option>');
    expect((await volunteer.submit('/animals', '/animals/add', { name: 'Pepper', categoryId: '' })).status).toBe(422);
    const added = await volunteer.submit('/animals', '/animals/add', { name: 'Pepper', categoryId: '1' });
    const { text } = await volunteer.open(added.location ?? '');
    expect(text).not.toContain('Choose</option>');
    expect(wordsOf(text)).toMatch(/Pepper is added, with the number \d+\..*Describe Pepper/);
    expect(text).toMatch(/<input type="text"[^>]*name="name"[^>]*autofocus data-key="n"/);
    expect(text).toContain('data-key="/"');
    const [row] = await site.store.read<{ shelter_id: bigint; person_id: bigint }>(
      `select pets.shelter_id, history.person_id from pets join history on history.pet_id = pets.id where pets.name = 'Pepper'`,
    );
    expect(row).toEqual({ shelter_id: shelterId, person_id: volunteer.person.id });
    const blank = await volunteer.submit('/animals', '/animals/add', { name: ' ', categoryId: '1' });
    expect([blank.status, wordsOf(blank.text)]).toEqual([422, expect.stringContaining('Fill this in.')]);
  });
});

describe('one animal', () => {
  test('of another shelter is not found, whatever is asked for', async () => {
    const id = await add();
    const paths = site.app.screens.pages.map(({ path }) => path).filter((path) => path.startsWith('/animals/:petId'));
    expect(paths.length).toBeGreaterThan(6);
    for (const path of paths) {
      const isOfStore = path === '/animals/:petId/shelter';
      expect({ path, status: (await other.get(path.replace(':petId', String(id)))).status }).toEqual({
        path,
        status: isOfStore ? 403 : 404,
      });
    }
    // With a token of its own, as a page of an animal of its own has it.
    const own = await addAnimal(site, { shelterId: otherShelterId });
    const hidden = hiddenOf((await other.open(`/animals/${own}/leaving`)).text, `/animals/${own}/leaving/remove`);
    const { _version: _, ...token } = hidden;
    const forms = site.app.screens.forms.map(({ path }) => path).filter((path) => path.startsWith('/animals/:petId'));
    for (const path of forms) {
      const values = { ...token, name: 'Mine', categoryId: '1', reason: 'other', type: 'died', shelterId: String(otherShelterId) };
      const { status } = await other.post(path.replace(':petId', String(id)), values);
      expect({ path, isRejected: status === 404 || status === 403 }).toEqual({ path, isRejected: true });
    }
    expect(await statusOf(id)).toEqual({ status: 'available', removed: false });
    expect(await wordsAt(staff, `/animals/${id}`)).toContain('Biscuit');
  });

  test('a volunteer describes it, and is offered nothing else', async () => {
    const id = await add();
    const { text } = await volunteer.get(`/animals/${id}`);
    for (const offered of ['profile', 'photos', 'card']) expect(text).toContain(`/animals/${id}/${offered}`);
    for (const hidden of ['hold', 'leaving', 'name', 'pending', 'sold']) expect(text).not.toContain(`/animals/${id}/${hidden}`);
    const saved = await volunteer.submit(`/animals/${id}/profile`, `/animals/${id}/profile/save`, { sex: 'female', children: 'yes' });
    expect(saved.location).toBe(`/animals/${id}`);
    expect((await volunteer.get(`/animals/${id}/leaving`)).status).toBe(403);
  });

  test('what is missing leads to its field in the profile, where there is one', async () => {
    const id = await add();
    const links = [...(await volunteer.get(`/animals/${id}`)).text.matchAll(/href="[^"]*\/profile#(\w+)">([^<]*)</g)];
    expect(links.map(([, , what]) => what)).toEqual([
      'a description',
      'the age',
      'the sex',
      'the size',
      'the breed',
      'who it is good with',
    ]);
    const form = (await volunteer.get(`/animals/${id}/profile`)).text;
    for (const [, field] of links) expect(form).toMatch(new RegExp(`<(input|select|textarea) [^>]*id="${field}"`));
  });

  test('an age that is written becomes a birth date that is not exact', async () => {
    const id = await add();
    const save = (values: Readonly<Record<string, string>>) =>
      staff.submit(`/animals/${id}/profile`, `/animals/${id}/profile/save`, values);
    await save({ birthDate: '2020-05-01', birthDateIsExact: 'true' });
    expect(await getProfile(db, id)).toMatchObject({ birthDate: '2020-05-01', birthDateIsExact: true });
    await save({ birthDate: '2020-05-01', birthDateIsExact: 'true', age: '9 weeks' });
    expect(await getProfile(db, id)).toMatchObject({ birthDateIsExact: false });
    expect(await wordsAt(staff, `/animals/${id}`)).toContain('Age about 9 weeks');
    const rejected = await save({ age: '9' });
    expect([rejected.status, wordsOf(rejected.text)]).toEqual([422, expect.stringContaining('Write an age, such as 8 weeks')]);
  });

  test('those that it is adopted together with are named, with a link for who may open them', async () => {
    const [id, friend] = [await add(), await add('Kümmel <b>')];
    const stranger = await addAnimal(site, { shelterId: otherShelterId, name: 'Stranger' });
    await staff.submit(`/animals/${id}/profile`, `/animals/${id}/profile/save`, { bondedWith: `${friend}, ${stranger}` });
    const { text } = await staff.get(`/animals/${id}`);
    expect(wordsOf(text)).toContain('Adopted together with Kümmel <b> , Stranger');
    expect(text).toContain(`href="/animals/${friend}"`);
    expect(text).not.toContain(`href="/animals/${stranger}"`);
  });

  test('staff set a status that is possible, and no other is offered', async () => {
    const id = await add();
    const path = `/animals/${id}`;
    expect(await wordsAt(staff, path)).toMatch(/Set to pending Mark as adopted/);
    await staff.submit(path, `${path}/pending`);
    expect(await wordsAt(staff, path)).toMatch(/Biscuit is pending\..*Make available Mark as adopted.*Ada set Biscuit to pending/);
    expect(await wordsAt(staff, `${path}/history`)).toContain('The store added Biscuit');
  });

  test('what an order reserves follows the order, and somebody who sends an old page is told so', async () => {
    const keeper = await createManager(site.store);
    const pet = await addPet(site.store, keeper, { name: 'Ordered' });
    const path = `/animals/${pet.id}`;
    const old = hiddenOf((await manager.open(`${path}/adopted`)).text, `${path}/sold`);
    const order = await placeOrder(site.store, keeper, pet.id);
    const { text } = await manager.open(path);
    expect(wordsOf(text)).toContain(`Reserved by order ${order.id}`);
    expect(text).not.toContain(`action="${path}/sold"`);
    const rejected = await manager.post(`${path}/sold`, old);
    expect([rejected.status, wordsOf(rejected.text)]).toEqual([
      412,
      expect.stringContaining('Meanwhile, a program with a key set Ordered to pending ('),
    ]);
    const { _version: _, ...again } = old;
    const second = await manager.post(`${path}/sold`, again);
    expect([second.status, wordsOf(second.text)]).toEqual([
      422,
      expect.stringContaining('Ordered is reserved by an order. Decide on the order first.'),
    ]);
    expect(wordsOf(text)).not.toContain('Lovelace');
  });

  test('of two people who rename it at once, the second is told who was first, and keeps what was typed', async () => {
    const id = await add();
    const path = `/animals/${id}/name`;
    const old = hiddenOf((await manager.open(path)).text, `${path}/save`);
    await staff.submit(path, `${path}/save`, { name: 'Cookie', categoryId: '1' });
    const second = await manager.post(`${path}/save`, { ...old, name: 'Brownie', categoryId: '1' });
    expect(second.status).toBe(412);
    expect(wordsOf(second.text)).toContain('Meanwhile, Ada changed the name or the category of Cookie (');
    expect(second.text).toContain('value="Brownie"');
    const third = await manager.post(`${path}/save`, { ...hiddenOf(second.text, `${path}/save`), name: 'Brownie', categoryId: '1' });
    expect(third.location).toBe(`/animals/${id}`);
  });

  test('names an animal that was in another shelter without naming the people there', async () => {
    const id = await add('Mover');
    await staff.submit(`/animals/${id}`, `/animals/${id}/pending`);
    const moved = await manager.submit(`/animals/${id}/shelter?to=${otherShelterId}`, `/animals/${id}/shelter/place`);
    expect(await wordsAt(manager, moved.location ?? '')).toContain('Mover is in Alpine Shelter now.');
    expect((await staff.get(`/animals/${id}`)).status).toBe(404);
    const words = await wordsAt(other, `/animals/${id}/history`);
    expect(words).toContain('Mia moved Mover from Danube Shelter to Alpine Shelter');
    expect(words).toContain('Somebody of another shelter set Mover to pending');
    const form = hiddenOf((await manager.get(`/animals/${id}/shelter?to=${otherShelterId}`)).text, `/animals/${id}/shelter/place`);
    const nowhere = await manager.post(`/animals/${id}/shelter/place`, { ...form, shelterId: '999999' });
    expect([nowhere.status, wordsOf(nowhere.text)]).toEqual([404, expect.stringContaining('There is no such shelter.')]);
  });
});

describe('the profile', () => {
  const everything = {
    description: 'Loves long walks.\nShy.',
    breedPrimary: 'Labrador',
    breedSecondary: 'Poodle',
    breedMixed: 'yes',
    birthDate: '2021-05-01',
    birthDateIsExact: 'true',
    sex: 'male',
    size: 'large',
    weight: '24,5',
    colors: 'brown, white',
    coat: 'curly',
    children: 'yes',
    dogs: 'no',
    cats: 'unknown',
    spayedNeutered: 'yes',
    houseTrained: 'no',
    vaccinated: 'yes',
    specialNeeds: 'no',
    fee: '120.50',
    currency: 'eur',
    tags: 'playful, calm indoors',
    videoUrl: 'https://video.example/biscuit',
    arrivedOn: '2024-02-29',
    externalId: 'A-1',
    attributes: 'Favourite toy: a red ball\nZodiac: Taurus',
  };

  test('has an input for each field that a save writes: what the form lacks, each save would remove', async () => {
    const { text } = await staff.open(`/animals/${await add()}/profile`);
    const lacking = Object.keys(profileForm.properties).filter((name) => !text.includes(`name="${name}"`));
    expect(lacking).toEqual([]);
  });

  test('is written in every field, and shows what was written', async () => {
    const [id, friend] = [await add(), await add('Friend')];
    const path = `/animals/${id}/profile`;
    const saved = await staff.submit(path, `${path}/save`, { ...everything, bondedWith: String(friend) });
    expect(saved.location).toBe(`/animals/${id}`);
    expect(await getProfile(db, id)).toEqual({
      description: 'Loves long walks.\nShy.',
      breeds: { primary: 'Labrador', secondary: 'Poodle', mixed: 'yes' },
      birthDate: '2021-05-01',
      birthDateIsExact: true,
      sex: 'male',
      size: 'large',
      weightGrams: 24_500,
      colors: ['brown', 'white'],
      coat: 'curly',
      goodWith: { children: 'yes', dogs: 'no', cats: 'unknown' },
      spayedNeutered: 'yes',
      houseTrained: 'no',
      vaccinated: 'yes',
      specialNeeds: 'no',
      adoptionFee: { amount: 12_050, currency: 'EUR' },
      bondedWith: [friend],
      tags: ['playful', 'calm indoors'],
      videoUrl: 'https://video.example/biscuit',
      arrivedOn: '2024-02-29',
      externalId: 'A-1',
      attributes: { 'Favourite toy': 'a red ball', Zodiac: 'Taurus' },
    });
    const { text } = await staff.open(path);
    for (const shown of ['value="Labrador"', 'value="24.5"', 'value="120.50"', 'value="brown, white"', 'Favourite toy: a red ball'])
      expect(text).toContain(shown);
    expect(await wordsAt(staff, `/animals/${id}`)).toMatch(
      /Breed Labrador, Poodle, mixed .*Weight 24\.5 kg .*Good with Children; not dogs/,
    );
    // What is sent again as it is shown changes nothing; what is emptied is gone.
    await staff.submit(path, `${path}/save`, { ...everything, bondedWith: String(friend), fee: '', colors: '', attributes: 'Zodiac: Leo' });
    const after = await getProfile(db, id);
    expect([after.adoptionFee, after.colors, after.attributes]).toEqual([null, [], { Zodiac: 'Leo' }]);
    const listed = namesIn((await staff.get('/animals?q=A-1')).text);
    expect(listed).toEqual(['Biscuit']);
  });

  test.each([
    ['colors', 'a, b, c, d', 'At most 3.'],
    ['birthDate', '2999-01-01', 'The birth date must not be in the future.'],
    ['fee', 'much', 'Write an amount'],
    ['currency', 'euro', 'At most 3 characters'],
    ['bondedWith', '999999', 'there is no animal with the number 999999.'],
    ['bondedWith', 'Luna', 'Write the numbers of animals'],
    ['attributes', 'no colon', 'This line has no colon'],
    ['videoUrl', 'http://video.example', 'must be an https URL of at most 2,000 characters.'],
  ])('with a %s of %s says what is wrong, and keeps the rest', async (field, value, message) => {
    const id = await add();
    const path = `/animals/${id}/profile`;
    const rejected = await staff.submit(path, `${path}/save`, { ...everything, externalId: '', [field]: value });
    expect(rejected.status).toBe(422);
    expect(wordsOf(rejected.text)).toContain(message);
    expect(rejected.text).toContain('value="Labrador"');
  });

  test('with several fields wrong says all of them at once, with a link to each', async () => {
    const path = `/animals/${await add()}/profile`;
    const wrong = {
      colors: 'a, b, c, d',
      birthDate: '2999-01-01',
      arrivedOn: '1800-01-01',
      fee: 'much',
      weight: '-1',
      attributes: 'no colon',
    };
    const { status, text } = await staff.submit(path, `${path}/save`, { ...everything, externalId: '', ...wrong });
    expect(status).toBe(422);
    expect(wordsOf(text)).toContain('6 fields need another look.');
    for (const field of Object.keys(wrong)) expect(text).toMatch(new RegExp(`<li><a href="#${field}">.* id="${field}-error"`, 's'));
    expect(text).toContain('value="Labrador"');
  });

  test('of two people who write it at once, the second keeps what was typed and reads what the first has stored', async () => {
    const id = await add();
    const path = `/animals/${id}/profile`;
    const old = hiddenOf((await volunteer.open(path)).text, `${path}/save`);
    await staff.submit(path, `${path}/save`, { description: 'From Ada.', sex: 'male' });
    const second = await volunteer.post(`${path}/save`, { ...old, description: 'From a volunteer.', sex: 'male' });
    expect(second.status).toBe(412);
    expect(wordsOf(second.text)).toContain(
      'Somebody else has changed the profile of Biscuit since you opened it. What you typed is still here',
    );
    expect(wordsOf(second.text)).toContain('Stored now, where you typed something else Description From Ada.');
    expect(second.text).toContain('\nFrom a volunteer.</textarea>');
    expect((await getProfile(db, id)).description).toBe('From Ada.');
  });

  test('with a number of the shelter that another animal has is rejected beside the field', async () => {
    const [first, second] = [await add('First'), await add('Second')];
    await staff.submit(`/animals/${first}/profile`, `/animals/${first}/profile/save`, { externalId: 'TWICE' });
    const rejected = await staff.submit(`/animals/${second}/profile`, `/animals/${second}/profile/save`, { externalId: 'TWICE' });
    expect([rejected.status, wordsOf(rejected.text)]).toEqual([
      422,
      expect.stringContaining('Another animal of the shelter has this number already.'),
    ]);
  });
});

describe('a hold', () => {
  test('is set until the end of a day, changed, and ended', async () => {
    const id = await add();
    const path = `/animals/${id}/hold`;
    const set = await staff.submit(path, `${path}/save`, { reason: 'medical', until: '2999-12-03', note: 'Stitches.' });
    expect(await wordsAt(staff, set.location ?? '')).toMatch(/Biscuit is held until 3 Dec 2999\..*On hold: medical/);
    const [row] = await site.store.read<{ hold_until: Date; hold_note: string }>(
      'select hold_until, hold_note from pets where id = $1',
      id,
    );
    // In Vienna, in winter.
    expect(row).toEqual({ hold_until: new Date('2999-12-03T22:59:00Z'), hold_note: 'Stitches.' });
    expect(await wordsAt(volunteer, `/animals/${id}`)).toContain('Stitches');
    expect(await wordsAt(volunteer, `/animals/${id}/card`)).not.toContain('Stitches');
    expect(await wordsAt(staff, `/animals/${id}`)).not.toContain('Make available');
    const ended = await staff.submit(path, `${path}/end`);
    expect(await wordsAt(staff, ended.location ?? '')).toContain('The hold of Biscuit has ended: it is available.');
  });

  test('that somebody else has set meanwhile stays, and the second reads who has set it and keeps what was typed', async () => {
    const id = await add();
    const path = `/animals/${id}/hold`;
    const old = hiddenOf((await manager.open(path)).text, `${path}/save`);
    await staff.submit(path, `${path}/save`, { reason: 'medical', until: '2999-12-03', note: 'Stitches.' });
    const typed = { reason: 'behaviour', until: '', note: 'Bites.' };
    const second = await manager.post(`${path}/save`, { ...old, ...typed });
    expect(second.status).toBe(412);
    expect(wordsOf(second.text)).toMatch(
      /Meanwhile, Ada held Biscuit until 3 Dec 2999, medical \( \d+ \w+ \d{4}, \d\d:\d\d UTC \)\. The note: “Stitches.” What you typed is still here/,
    );
    expect(second.text).toContain('value="behaviour" checked');
    expect(second.text).toContain('\nBites.</textarea>');
    expect((await manager.post(`${path}/save`, { ...hiddenOf(second.text, `${path}/save`), ...typed })).status).toBe(303);
    const token = hiddenOf((await staff.open(path)).text, `${path}/end`);
    const ending = await staff.post(`${path}/end`, { ...hiddenOf(second.text, `${path}/end`), ...token, _version: old['_version'] ?? '' });
    expect([ending.status, wordsOf(ending.text)]).toEqual([412, expect.stringMatching(/held Biscuit, behaviour.*Bites/)]);
  });

  test('that ends on a day that is over or does not exist is rejected beside the field', async () => {
    const id = await add();
    const path = `/animals/${id}/hold`;
    for (const [until, message] of [
      ['2020-01-01', 'Choose today or a later day.'],
      ['2999-02-30', 'There is no such day.'],
    ] as const) {
      const rejected = await staff.submit(path, `${path}/save`, { reason: 'stray', until });
      expect([rejected.status, wordsOf(rejected.text)]).toEqual([422, expect.stringContaining(message)]);
    }
    const both = await staff.submit(path, `${path}/save`, { until: '2020-01-01' });
    expect(wordsOf(both.text)).toContain('2 fields need another look. Why Fill this in. Until Choose today or a later day.');
    expect(await statusOf(id)).toEqual({ status: 'available', removed: false });
  });

  test('is not offered for an adopted animal', async () => {
    const id = await add('Gone', { status: 'sold' });
    expect(await wordsAt(staff, `/animals/${id}/hold`)).toContain(
      'Gone is adopted. Only an animal that is available or pending can be held.',
    );
  });
});

describe('leaving', () => {
  test('an outcome takes the animal out of the lists, and is undone from its page', async () => {
    const id = await add('Leaver');
    const path = `/animals/${id}/leaving`;
    const left = await staff.submit(path, `${path}/note`, { type: 'transferred' });
    expect(left.location).toBe(`/animals/${id}`);
    expect(await wordsAt(staff, left.location ?? '')).toMatch(/It is noted that Leaver was transferred\..*this can be undone/);
    expect(namesIn((await staff.get('/animals')).text)).not.toContain('Leaver');
    for (const [browser, status] of [
      [volunteer, 404],
      [other, 404],
      [manager, 200],
    ] as const)
      expect((await browser.get(`/animals/${id}`)).status).toBe(status);
    expect(await wordsAt(staff, '/animals/left')).toMatch(new RegExp(`Leaver ${id} Transferred`));
    expect(await wordsAt(other, '/animals/left')).not.toContain('Leaver');
    const undone = await staff.submit(`/animals/${id}`, `/animals/${id}/undo`);
    expect(await wordsAt(staff, undone.location ?? '')).toMatch(
      /Leaver is back, and pending.*Ada brought Leaver back.*Ada noted that Leaver was transferred/,
    );
    expect(await wordsAt(staff, '/animals/left')).not.toContain('Leaver');
    expect(await statusOf(id)).toEqual({ status: 'pending', removed: false });
  });

  test('an outcome that somebody else has noted meanwhile stays, and the second reads who has noted what', async () => {
    const id = await add('Twice');
    const path = `/animals/${id}/leaving`;
    const old = hiddenOf((await manager.open(path)).text, `${path}/note`);
    await staff.submit(path, `${path}/note`, { type: 'transferred' });
    const second = await manager.post(`${path}/note`, { ...old, type: 'died' });
    expect(second.status).toBe(409);
    expect(wordsOf(second.text)).toMatch(
      /Nothing was changed. Meanwhile, Ada noted that Twice was transferred \( .*You have chosen: Died .*bring Twice back/,
    );
    const foreign = await other.post(`${path}/note`, { ...hiddenOf((await other.open('/me')).text, '/me/sign-out'), type: 'died' });
    expect(foreign.status).toBe(404);
  });

  test('an outcome that is too old is shown, and not undone', async () => {
    const id = await add('Old');
    await staff.submit(`/animals/${id}/leaving`, `/animals/${id}/leaving/note`, { type: 'other' });
    const hidden = hiddenOf((await staff.open(`/animals/${id}`)).text, `/animals/${id}/undo`);
    await site.store.write('update pets set undoable_until = now() where id = $1', id);
    expect(await wordsAt(staff, `/animals/${id}`)).toContain("so it can't be undone any more");
    const rejected = await staff.post(`/animals/${id}/undo`, hidden);
    expect([rejected.status, wordsOf(rejected.text)]).toEqual([422, expect.stringContaining('It is too late')]);
  });

  test('an animal that was added by mistake is removed for good', async () => {
    const id = await add('Mistake');
    const removed = await staff.submit(`/animals/${id}/leaving`, `/animals/${id}/leaving/remove`);
    expect(await wordsAt(staff, removed.location ?? '')).toContain('Mistake is removed.');
    expect((await staff.get(`/animals/${id}`)).status).toBe(404);
  });

  test('what somebody has changed since the page was opened is not removed', async () => {
    const id = await add('Kept');
    const hidden = hiddenOf((await manager.open(`/animals/${id}/leaving`)).text, `/animals/${id}/leaving/remove`);
    await staff.submit(`/animals/${id}`, `/animals/${id}/pending`);
    const rejected = await manager.post(`/animals/${id}/leaving/remove`, hidden);
    expect([rejected.status, wordsOf(rejected.text)]).toEqual([412, expect.stringContaining('Meanwhile, Ada set Kept to pending (')]);
    expect(await statusOf(id)).toEqual({ status: 'pending', removed: false });
  });
});

describe('the kennel card', () => {
  let text = '';
  beforeAll(async () => {
    const id = await add('Card & Co');
    text = (await volunteer.open(`/animals/${id}/card`)).text;
  });

  test('says first what matters for handling: a hold, in the words for visitors, and who stays with it', async () => {
    const [id, friend] = [await add('Held'), await add('Friend')];
    await staff.submit(`/animals/${id}/hold`, `/animals/${id}/hold/save`, { reason: 'behaviour', until: '2999-12-03', note: 'Bites.' });
    const saved = await staff.submit(`/animals/${id}/profile`, `/animals/${id}/profile/save`, { bondedWith: String(friend), dogs: 'no' });
    expect(saved.status).toBe(303);
    const words = await wordsAt(volunteer, `/animals/${id}/card`);
    expect(words).toMatch(/On hold .*, until 3 Dec 2999 Only with Friend Good with Not dogs Category/i);
    expect(words).not.toMatch(/behaviour|Bites/i);
  });

  test('has the name, the shelter and a QR code that is drawn here', () => {
    expect(wordsOf(text)).toMatch(/Card & Co .* Danube Shelter Number \d+/);
    expect(text).toMatch(/<svg class="qr" viewBox="0 0 \d+ \d+" role="img"/);
  });
});
