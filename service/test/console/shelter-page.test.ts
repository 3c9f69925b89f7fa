// A shelter's own page: for its admin, and for staff of the store.
import { beforeEach, describe, expect, test } from 'vitest';
import { getQuestions } from '../../src/adoption/questions/questions.ts';
import { getShelter } from '../../src/adoption/shelters/shelters.ts';
import { addAnimal, addShelter } from './console-steps.ts';
import { hiddenOf, openTestConsole, type TestBrowser, wordsOf } from './test-console.ts';

const site = await openTestConsole();
const { store } = site;
const { db } = store.dependencies;
const other = await addShelter(site, 'Alps Shelter', 'Europe/Zurich');
let shelterId = 0n;
let admin: TestBrowser;
let path = '';

beforeEach(async () => {
  shelterId = await addShelter(site, 'Danube Shelter', 'Europe/Vienna');
  admin = await site.arrive({ role: 'admin', shelterId });
  path = `/shelters/${shelterId}`;
});

const stored = () => getShelter(db, shelterId);
const words = async (browser: TestBrowser, where: string) => wordsOf((await browser.open(where)).text);
const contact = {
  name: 'Danube Shelter',
  phone: '',
  email: '',
  website: '',
  address: '',
  postcode: '',
  town: '',
  country: '',
  timezone: 'Europe/Vienna',
};

describe('The list of shelters', () => {
  test('shows staff of the store all by name, and finds one by a part of its name, its town or its number', async () => {
    const staff = await site.arrive({ role: 'staff' });
    await store.write(`update shelters set town = 'Krems' where id = $1`, other);
    const all = await words(staff, '/shelters');
    expect(all.indexOf('Alps Shelter')).toBeLessThan(all.indexOf('Danube Shelter'));
    for (const asked of ['alps', 'KREMS', String(other), `%23${other}`]) {
      const found = await staff.get(`/shelters?q=${asked}`);
      expect([asked, found.text.includes(`href="/shelters/${other}"`)]).toEqual([asked, true]);
    }
    expect(await words(staff, '/shelters?q=nowhere')).toContain('No shelter has “nowhere”');
  });

  test('has pages in the order of names, also of those that are called the same', async () => {
    for (let i = 0; i < 60; i += 1) await addShelter(site, 'Zoo', 'Europe/Vienna');
    const staff = await site.arrive({ role: 'staff' });
    const seen: string[] = [];
    for (let next: string | undefined = '/shelters?q=zoo'; next !== undefined; ) {
      const { text } = await staff.get(next);
      seen.push(...[...text.matchAll(/href="\/shelters\/(\d+)" data-row/g)].map(([, id = '']) => id));
      next = /href="([^"]*cursor[^"]*)"/.exec(text)?.[1]?.replaceAll('&#38;', '&');
    }
    expect(seen).toHaveLength(60);
    expect(new Set(seen).size).toBe(60);
  });

  test('is the own shelter for its admin, who finds no other, and is nothing for staff and volunteers of a shelter', async () => {
    const page = await admin.get('/shelters');
    expect(wordsOf(page.text)).toContain('Danube Shelter');
    expect(page.text).not.toContain('Alps Shelter');
    expect((await admin.get(`/shelters/${other}`)).status).toBe(404);
    expect((await admin.get(`/shelters/${other}/contact`)).status).toBe(404);
    for (const role of ['staff', 'volunteer'] as const) {
      const browser = await site.arrive({ role, shelterId });
      for (const at of ['/shelters', path, `${path}/contact`]) expect([role, at, (await browser.get(at)).status]).toEqual([role, at, 403]);
    }
  });

  test('is where staff of the store choose the shelter that an animal goes to, and are asked first', async () => {
    const id = await addAnimal(site, { shelterId, name: 'Kümmel' });
    const staff = await site.arrive({ role: 'staff' });
    expect((await staff.get(`/animals/${id}/leaving`)).text).toContain(`href="/animals/${id}/shelter"`);
    expect((await staff.get(`/animals/${id}/shelter?q=alps`)).text).toContain(`href="/animals/${id}/shelter?to=${other}"`);
    const asking = await staff.get(`/animals/${id}/shelter?to=${other}`);
    expect(wordsOf(asking.text)).toContain('Kümmel goes to Alps Shelter ?');
    const moved = await staff.submit(`/animals/${id}/shelter?to=${other}`, `/animals/${id}/shelter/place`);
    expect(wordsOf((await staff.open(moved.location ?? '')).text)).toContain('Kümmel is in Alps Shelter now.');
    expect((await staff.get(`/animals/${id}/shelter?to=999999`)).status).toBe(404);
    expect((await admin.get(`/animals/${id}/shelter`)).status).toBe(403);
  });
});

describe('Name and contact', () => {
  test('of a shelter are changed by its admin, and wait for the store, which the page shows', async () => {
    const saved = await admin.submit(`${path}/contact`, `${path}/contact`, { ...contact, phone: '+43 1 555', town: 'Vienna' });
    const page = await words(admin, saved.location ?? '');
    expect(page).toContain('mail to adopters has it once the staff of the store have confirmed it');
    expect(page).toContain('Waits for the store');
    expect(await stored()).toMatchObject({ phone: '+43 1 555', town: 'Vienna', email: null });
    expect(await store.read('select phone from confirmed_shelters where shelter_id = $1', shelterId)).toEqual([{ phone: null }]);
    const staff = await site.arrive({ role: 'staff' });
    await staff.submit(`${path}/contact`, `${path}/contact`, { ...contact, phone: '+43 1 556', town: 'Vienna' });
    expect(await store.read('select phone from confirmed_shelters where shelter_id = $1', shelterId)).toEqual([{ phone: '+43 1 556' }]);
    const [row] = await store.read(
      `select act from audit where act = 'shelter.changed' and target_id = $1 order by id desc limit 1`,
      shelterId,
    );
    expect(row).toEqual({ act: 'shelter.changed' });
  });

  test('that cannot be right are said beside the field or above the form, with what was typed', async () => {
    const wrong = await admin.submit(`${path}/contact`, `${path}/contact`, { ...contact, name: '', timezone: 'Vienna' });
    expect([wrong.status, wordsOf(wrong.text)]).toEqual([422, expect.stringContaining('Fill this in.')]);
    const zone = await admin.submit(`${path}/contact`, `${path}/contact`, { ...contact, timezone: 'Vienna' });
    expect([zone.status, wordsOf(zone.text)]).toEqual([422, expect.stringContaining('must be a name of the IANA database')]);
    expect(zone.text).toContain('value="Vienna"');
  });

  test('that somebody else has changed meanwhile are not overwritten', async () => {
    const page = await admin.get(`${path}/contact`);
    await store.write(`update shelters set phone = '1' where id = $1`, shelterId);
    const sent = await admin.post(`${path}/contact`, { ...hiddenOf(page.text, `${path}/contact`), ...contact });
    expect([sent.status, wordsOf(sent.text)]).toEqual([412, expect.stringContaining('Somebody else has changed the shelter')]);
  });
});

describe('How animals are adopted', () => {
  test('new animals begin not ready yet, whoever adds them, until staff end that', async () => {
    await admin.submit(`${path}/adoption`, `${path}/adoption`, {
      adoption: 'application',
      applicationsMax: '20',
      applicationNote: '',
      newAnimalsHeld: 'true',
    });
    expect(await stored()).toMatchObject({ adoption: 'application', applicationsMax: 20, newAnimalsHeld: true });
    const { key } = await store.createKey({ shelterId });
    const added = await store.call<{ id: number; status: string }>('POST', '/v1/pets', { key, body: { name: 'Moose', categoryId: 1 } });
    expect([added.status, added.json.status]).toEqual([201, 'pending']);
    const byPerson = await addAnimal(site, { shelterId });
    for (const id of [BigInt(added.json.id), byPerson]) {
      const [pet] = await store.read('select status, hold_reason as reason from pets where id = $1', id);
      expect(pet).toEqual({ status: 'pending', reason: 'other' });
      const kinds = (await store.read<{ kind: string }>('select kind from history where pet_id = $1 order by id', id)).map(
        ({ kind }) => kind,
      );
      expect(kinds).toEqual(['pet_added', 'pet_held']);
    }
    expect((await admin.submit(`/animals/${byPerson}/hold`, `/animals/${byPerson}/hold/end`)).status).toBe(303);
    expect(await store.read('select status from pets where id = $1', byPerson)).toEqual([{ status: 'available' }]);
    expect(
      await addAnimal(site, { shelterId, status: 'sold' }).then((id) => store.read('select status from pets where id = $1', id)),
    ).toEqual([{ status: 'sold' }]);
  });
});

describe('Opening hours', () => {
  const submit = (part: string, values: Record<string, string>) => admin.submit(`${path}/hours`, `${path}/hours/${part}`, values);

  test('of the week and of days that differ are typed as people write them', async () => {
    expect((await submit('week', { wednesday: '14-18', saturday: '10–12, 13.30 to 17' })).status).toBe(303);
    expect((await submit('add', { date: '2999-12-24', hours: '' })).status).toBe(303);
    expect((await submit('add', { date: '2999-12-31', hours: '10-13' })).status).toBe(303);
    expect((await stored()).openingHours).toEqual({
      weekly: {
        wednesday: [{ from: '14:00', to: '18:00' }],
        saturday: [
          { from: '10:00', to: '12:00' },
          { from: '13:30', to: '17:00' },
        ],
      },
      exceptions: [
        { date: '2999-12-24', hours: [] },
        { date: '2999-12-31', hours: [{ from: '10:00', to: '13:00' }] },
      ],
    });
    expect(await words(admin, path)).toContain('Saturday 10:00–12:00, 13:30–17:00');
    expect((await submit('remove', { date: '2999-12-24' })).status).toBe(303);
    expect((await stored()).openingHours?.exceptions).toHaveLength(1);
  });

  test.each([
    ['22-2', 'ends before it begins'],
    ['10-12, 11-13', 'is before 12:00'],
    ['mornings', "can't be read"],
    ['25-26', 'There is no time 25:00'],
    ['1-2,3-4,5-6,7-8,9-10', 'At most 4 times a day'],
  ])('of a day that are %s are not accepted: %s', async (typed, why) => {
    const wrong = await submit('week', { monday: typed });
    expect([wrong.status, wordsOf(wrong.text)]).toEqual([422, expect.stringContaining(why)]);
    expect((await stored()).openingHours).toBeNull();
  });
});

describe('Questions', () => {
  const ask = (values: Record<string, string>, page = `${path}/questions/edit`) => admin.submit(page, `${path}/questions/edit`, values);

  test('are added, put earlier, changed and removed, and the page shows the form that adopters get', async () => {
    await ask({ text: 'Do you have a garden?', type: 'yes_no', required: 'true' });
    await ask({ text: 'How high is its fence?', type: 'choice', options: 'Up to 1 m\nHigher', onlyIf: 'do_you_have_a_garden=true' });
    const questions = await getQuestions(db, shelterId);
    expect(questions).toEqual([
      { id: 'do_you_have_a_garden', text: 'Do you have a garden?', type: 'yes_no', required: true },
      {
        id: 'how_high_is_its_fence',
        text: 'How high is its fence?',
        type: 'choice',
        options: ['Up to 1 m', 'Higher'],
        required: false,
        onlyIf: { question: 'do_you_have_a_garden', is: true },
      },
    ]);
    const page = await words(admin, `${path}/questions`);
    expect(page).toContain('What adopters see');
    expect(page).toContain('Only if “Do you have a garden?” is answered with yes.');
    await ask(
      { text: 'Do you have a large garden?', type: 'yes_no', required: 'true' },
      `${path}/questions/edit?question=do_you_have_a_garden`,
    );
    expect((await getQuestions(db, shelterId))[0]).toMatchObject({ id: 'do_you_have_a_garden', text: 'Do you have a large garden?' });
    const early = await admin.submit(`${path}/questions`, `${path}/questions/earlier`);
    expect([early.status, wordsOf(early.text)]).toEqual([422, expect.stringContaining('must come after it')]);
    const gone = await admin.submit(`${path}/questions/edit?question=how_high_is_its_fence`, `${path}/questions/remove`);
    expect(gone.status).toBe(303);
    expect(await getQuestions(db, shelterId)).toHaveLength(1);
  });

  test.each([
    [{ text: 'Garden?', type: 'choice', options: 'One' }, 'Write 2 to 30 answers'],
    [{ text: 'Garden?', type: 'yes_no', options: 'One\nTwo' }, 'leave this empty'],
    [{ text: '', type: 'line' }, 'Fill this in.'],
  ])('that cannot be asked are not stored: %j', async (values, why) => {
    const wrong = await ask(values as Record<string, string>);
    expect([wrong.status, wordsOf(wrong.text)]).toEqual([422, expect.stringContaining(why)]);
    expect(await getQuestions(db, shelterId)).toEqual([]);
  });
});

test('after the first passkey, the page says what comes next, to each role what it finds', async () => {
  const page = await words(admin, '/me?first');
  for (const said of ['What comes next', 'Today', 'Shelter has contact, opening hours', 'Invite']) expect(page).toContain(said);
  const volunteer = await site.arrive({ role: 'volunteer', shelterId });
  const theirs = await words(volunteer, '/me?first');
  expect(theirs).toContain('Animals is where you add them');
  expect(theirs).not.toContain('Invite those');
});

test('nobody is promised a screen that the console does not have', async () => {
  const boss = await site.arrive({ role: 'admin' });
  const offered = await words(boss, '/people/invite');
  expect(offered).toContain('Also manages people, and what a shelter says, asks and does by itself.');
  expect(offered).not.toMatch(/audit|keys|plans/);
});

test('staff of the store set colours and texts of the site, and an unreadable colour is said beside its field', async () => {
  const staff = await site.arrive({ role: 'staff' });
  const at = '/shelters/site';
  const wrong = await staff.submit(at, at, { accentLight: '#f4a27e', accentDark: '', imprint: '', privacy: '' });
  expect([wrong.status, wordsOf(wrong.text)]).toEqual([422, expect.stringContaining('Choose a darker one.')]);
  const saved = await staff.submit(at, at, { accentLight: '#a83f1f', accentDark: '', imprint: 'Riverside Animals', privacy: '' });
  expect(await words(staff, saved.location ?? '')).toContain('It is saved.');
  expect(await store.read('select accent_light, imprint, privacy from site_settings')).toEqual([
    { accent_light: '#a83f1f', imprint: 'Riverside Animals', privacy: null },
  ]);
  expect((await admin.get(at)).status).toBe(403);
});
