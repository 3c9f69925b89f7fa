import { expect, test } from 'vitest';
import { applicationMailReader } from '../../src/adoption/applications/application-mail.ts';
import type { Question } from '../../src/adoption/questions/question-schemas.ts';
import { setQuestions } from '../../src/adoption/questions/questions.ts';
import { linkOfAdopter } from '../../src/console/adoptions/decisions.ts';
import { actAs } from '../people-steps.ts';
import { Staff } from './adoption-site.ts';
import { addShelter } from './console-steps.ts';
import { type Answer, hiddenOf, openTestConsole, type TestBrowser, wordsOf } from './test-console.ts';

const site = await openTestConsole();
const shelterId = await addShelter(site, 'Danube Shelter', 'Europe/Vienna');
const otherId = await addShelter(site, 'Inn Shelter', 'Europe/Vienna');
const mailing = await openTestConsole({
  env: {
    HOMEWARD_SMTP_URL: 'smtp://127.0.0.1:1',
    HOMEWARD_MAIL_FROM: 'Danube <adoption@example.org>',
    HOMEWARD_PUBLIC_URL: 'https://store.example',
  },
});

async function arrive(name = 'Carl', place: bigint | null = shelterId, at = site) {
  const browser = await at.arrive({ role: 'staff', shelterId: place, name });
  return { browser, staff: new Staff(at, browser.person) };
}

const tokenOf = async (browser: TestBrowser, applicationId: bigint) => {
  const page = `/applications/${applicationId}`;
  return hiddenOf((await browser.open(page)).text, `${page}/note`);
};

const decode = (text: string) => text.replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)));

/** Opens the page, and presses the button. */
const press = (browser: TestBrowser, page: string, action: string, values: Readonly<Record<string, string>> = {}): Promise<Answer> =>
  browser.submit(page, action, values);

test('an application goes from new to adopted: reviewed, accepted, and handed over with two clicks', async () => {
  const { browser, staff } = await arrive();
  const pet = await staff.addPet();
  const { id } = await staff.apply(pet.id);
  const page = `/applications/${id}`;
  await press(browser, page, `${page}/review`);
  expect(await staff.statusOf('applications', id)).toBe('reviewing');
  const accepted = await press(browser, `${page}/accept`, `${page}/accept`);
  expect(wordsOf((await browser.open(accepted.location ?? '')).text)).toContain('Biscuit is promised to this adopter.');
  const [, handOver = ''] = /href="(\/orders\/\d+\/hand-over)"/.exec((await browser.open(page)).text) ?? [];
  const order = handOver.replace('/hand-over', '');
  const done = await press(browser, handOver, `${order}/complete`);
  expect(wordsOf((await browser.open(done.location ?? '')).text)).toContain('Biscuit is adopted.');
  // What the pages say is stored for a repeat of the form.
  expect(await site.store.read(`select message from form_results where message like '%Ada%'`)).toEqual([]);
  expect(await staff.statusOf('applications', id)).toBe('completed');
  expect(await staff.statusOf('pets', pet.id)).toBe('sold');
  const history = wordsOf((await browser.open(page)).text);
  for (const deed of ['You have begun to review it', 'You have accepted it', 'You have handed the animal over'])
    expect(history).toContain(deed);
});

interface Deed {
  readonly name: string;
  readonly table: 'application_history' | 'history';
  /** The page and the form. */
  readonly prepare: (staff: Staff) => Promise<readonly [string, string]>;
}

const applied = async (staff: Staff) => (await staff.apply((await staff.addPet()).id)).id;
const ordered = async (staff: Staff) => (await staff.placeOrder((await staff.addPet()).id)).id;
const approved = async (staff: Staff) => {
  const accepted = await staff.decide(await applied(staff), 'accept');
  return accepted.orderId ?? 0n;
};

const deeds: readonly Deed[] = [
  ...(['review', 'accept', 'decline', 'withdraw'] as const).map((name) => ({
    name,
    table: 'application_history' as const,
    prepare: async (staff: Staff) => {
      const page = `/applications/${await applied(staff)}`;
      return [name === 'accept' || name === 'decline' ? `${page}/${name}` : page, `${page}/${name}`] as const;
    },
  })),
  {
    name: 'reopen',
    table: 'application_history',
    prepare: async (staff) => {
      const id = await applied(staff);
      await staff.decide(id, 'decline');
      return [`/applications/${id}`, `/applications/${id}/reopen`];
    },
  },
  {
    name: 'approve',
    table: 'history',
    prepare: async (staff) => {
      const page = `/orders/${await ordered(staff)}`;
      return [page, `${page}/approve`];
    },
  },
  {
    name: 'cancel',
    table: 'history',
    prepare: async (staff) => {
      const page = `/orders/${await ordered(staff)}`;
      return [page, `${page}/cancel`];
    },
  },
  {
    name: 'complete',
    table: 'history',
    prepare: async (staff) => {
      const page = `/orders/${await approved(staff)}`;
      return [`${page}/hand-over`, `${page}/complete`];
    },
  },
];

const countRows = async (table: Deed['table']) =>
  Number((await site.store.read<{ count: bigint }>(`select count(*) from ${table}`))[0]?.count);

test.each(deeds)('$name is carried out once, however often its form is sent', async ({ table, prepare }) => {
  const { browser, staff } = await arrive();
  const [page, action] = await prepare(staff);
  const form = hiddenOf((await browser.open(page)).text, action);
  const before = await countRows(table);
  const answers = [await browser.post(action, form), await browser.post(action, form), await browser.post(action, form)];
  expect(answers.map(({ status }) => status)).toEqual([303, 303, 303]);
  expect(new Set(answers.map(({ location }) => location)).size).toBe(1);
  // An order that is completed sells its animal: two rows.
  expect((await countRows(table)) - before).toBeLessThanOrEqual(2);
  expect((await countRows(table)) - before).toBeGreaterThan(0);
  const [last] = await site.store.read<{ person_id: bigint }>(`select person_id from ${table} order by at desc limit 1`);
  expect(last?.person_id).toBe(browser.person.id);
});

test('an animal that came back is available again', async () => {
  const { browser, staff } = await arrive();
  const pet = await staff.addPet();
  const { orderId } = await staff.decide((await staff.apply(pet.id)).id, 'accept');
  const page = `/orders/${orderId}`;
  await press(browser, `${page}/hand-over`, `${page}/complete`);
  await press(browser, page, `${page}/return`);
  expect(await staff.statusOf('pets', pet.id)).toBe('available');
});

test('staff of a shelter find nothing of another one, and people of the store all', async () => {
  const { staff } = await arrive();
  const { browser: stranger, staff: inge } = await arrive('Inge', otherId);
  const { browser: store } = await arrive('Zoe', null);
  const pet = await staff.addPet('Secret Biscuit');
  const application = await staff.apply(pet.id, { name: 'Secret Ada' });
  const order = await ordered(staff);
  const jobId = await staff.endAll((await staff.apply((await staff.addPet()).id)).clientId);
  const { clientId } = await staff.apply(pet.id);
  const ids: Readonly<Record<string, bigint>> = { petId: pet.id, applicationId: application.id, orderId: order, clientId, jobId };
  const fill = (path: string) => path.replaceAll(/:(\w+)/g, (_, name: string) => String(ids[name]));
  const own = (path: string) => /^\/(applications|orders|adopters)\b/.test(path);
  const pages = site.app.screens.pages.map(({ path }) => path).filter(own);
  expect(pages.length).toBeGreaterThan(8);
  const token = await tokenOf(stranger, await applied(inge));
  for (const path of pages.filter((one) => one.includes(':'))) {
    expect({ path, status: (await stranger.get(fill(path))).status }).toEqual({ path, status: 404 });
    expect({ path, status: (await store.get(fill(path))).status }).toEqual({ path, status: 200 });
  }
  for (const path of pages.filter((one) => !one.includes(':'))) {
    expect((await stranger.get(path)).text).not.toContain('Secret');
    for (const q of [String(application.id), application.adopter?.email ?? '', 'secret'])
      expect((await stranger.get(`${path}?q=${q}`)).text).not.toContain('Secret');
  }
  expect((await store.get('/applications')).text).toContain('Secret Ada');
  expect((await stranger.get('/')).text).not.toContain('Secret');
  for (const list of ['/applications', '/orders']) expect((await stranger.get(`${list}?pet=${pet.id}`)).text).not.toContain('Secret');
  expect((await stranger.get(`/applications/new?pet=${pet.id}`)).status).toBe(404);
  const forms = site.app.screens.forms.map(({ path }) => path).filter(own);
  for (const path of forms) {
    const sent = { ...token, petId: String(pet.id), name: 'Mallory', email: 'mallory@example.org' };
    expect({ path, status: (await stranger.post(fill(path), sent)).status }).toEqual({ path, status: 404 });
  }
  expect(await staff.statusOf('applications', application.id)).toBe('submitted');
  expect(await staff.statusOf('orders', order)).toBe('placed');
});

test('what was done in another shelter is told without naming the people there', async () => {
  const { browser: bert, staff: there } = await arrive('Bert', otherId);
  const { browser: carl } = await arrive();
  const pet = await there.addPet();
  const { id } = await there.apply(pet.id);
  await press(bert, `/applications/${id}/accept`, `/applications/${id}/accept`);
  const manager = await site.arrive({ role: 'staff' });
  await manager.submit(`/animals/${pet.id}/shelter?to=${shelterId}`, `/animals/${pet.id}/shelter/place`);
  const [order] = await site.store.read<{ id: bigint }>('select id from orders where pet_id = $1', pet.id);
  for (const path of [`/applications/${id}`, `/orders/${order?.id}`]) {
    const words = wordsOf((await carl.get(path)).text);
    expect(words).not.toContain('Bert');
    expect(words).toContain('Somebody of another shelter has');
  }
  expect(wordsOf((await manager.get(`/applications/${id}`)).text)).toContain('Bert has accepted it');
});

test('an application that has ended stays when its animal moves, and no page links what its reader can not open', async () => {
  const { browser: bert, staff: there } = await arrive('Bert', otherId);
  const { browser: carl } = await arrive();
  const pet = await there.addPet();
  const { id } = await there.apply(pet.id);
  const { orderId } = await there.decide(id, 'accept');
  await there.cancel(orderId ?? 0n);
  const [ended, order] = [`/applications/${id}`, `/orders/${orderId}`];
  const linksOf = async (browser: TestBrowser, path: string) =>
    [...(await browser.get(path)).text.matchAll(/href="(\/(?:animals|applications|orders)\/\d[^"]*)"/g)].map(([, link = '']) => link);
  expect(await linksOf(bert, ended)).toEqual(expect.arrayContaining([order, `/animals/${pet.id}`]));
  expect(await linksOf(bert, order)).toContain(ended);
  const manager = await site.arrive({ role: 'staff' });
  const place = `/animals/${pet.id}/shelter`;
  const asked = `${place}?to=${shelterId}`;
  expect(wordsOf((await manager.get(asked)).text)).toContain('The profile, the orders and the open applications of');
  await manager.submit(asked, `${place}/place`);
  expect(wordsOf((await bert.get(ended)).text)).toContain(`Order ${orderId}, in another shelter`);
  expect(wordsOf((await carl.get(order)).text)).toContain(`Application ${id}, in another shelter`);
  for (const [browser, path] of [
    [bert, ended],
    [carl, order],
    [manager, ended],
    [manager, order],
  ] as const)
    for (const link of await linksOf(browser, path))
      expect({ link, status: (await browser.get(link)).status }).toEqual({ link, status: 200 });
  expect(await linksOf(manager, ended)).toEqual(expect.arrayContaining([order, `/animals/${pet.id}`]));
});

test('the address of an adopter opens a mail to nobody else', async () => {
  const { browser, staff } = await arrive();
  const { id } = await staff.apply((await staff.addPet()).id);
  const address = 'ada?bcc=eve%40evil.example&body=x@example.org';
  await site.store.write('update applications set adopter_email = $2 where id = $1', id, address);
  const { text } = await browser.get(`/applications/${id}`);
  const [, link = ''] = /href="(mailto:[^"]*)"/.exec(text) ?? [];
  expect(link).toBe('mailto:ada%3Fbcc%3Deve%2540evil.example%26body%3Dx@example.org');
  expect(wordsOf(text)).toContain(address);
});

test('who decides second is told who has decided what, and what was typed is shown', async () => {
  const { browser: carl, staff } = await arrive('Carl');
  const { browser: berta } = await arrive('Berta');
  const { id } = await staff.apply((await staff.addPet()).id, { name: 'Eve' });
  const decline = `/applications/${id}/decline`;
  const form = hiddenOf((await berta.open(decline)).text, decline);
  await press(carl, `/applications/${id}/accept`, `/applications/${id}/accept`);
  const { status, text } = await berta.post(decline, { ...form, message: 'A home <b>without</b> cats.' });
  expect(status).toBe(409);
  expect(wordsOf(text)).toMatch(/Nothing was changed\. Application \d+, of Eve : Carl has accepted it, \d+ \w+ 2\d{3}, \d\d:\d\d/);
  expect(decode(text)).toContain('A home <b>without</b> cats.');
});

test('who accepts a second adopter is told to whom the animal is promised, and by whom', async () => {
  const { browser: carl, staff } = await arrive('Carl');
  const { browser: berta } = await arrive('Berta');
  const pet = await staff.addPet();
  const [eve, ada] = [await staff.apply(pet.id, { name: 'Eve' }), await staff.apply(pet.id)];
  const accept = `/applications/${ada.id}/accept`;
  const form = hiddenOf((await berta.open(accept)).text, accept);
  await press(carl, `/applications/${eve.id}/accept`, `/applications/${eve.id}/accept`);
  const { status, text } = await berta.post(accept, form);
  expect(status).toBe(409);
  expect(wordsOf(text)).toContain('of Eve : Carl has accepted it');
  expect(wordsOf(text)).toMatch(/Biscuit is promised to Eve in order \d+/);
  // The page of the animal says so before anything is sent, and offers no second adopter.
  const compare = await berta.get(`/applications/pets/${pet.id}`);
  expect(wordsOf(compare.text)).toMatch(/Biscuit is promised to Eve in order \d+/);
  expect(compare.text).not.toContain(`${accept}"`);
});

test('an order that somebody has cancelled is said to be so', async () => {
  const { browser: carl, staff } = await arrive('Carl');
  const { browser: berta } = await arrive('Berta');
  const page = `/orders/${await ordered(staff)}`;
  const form = hiddenOf((await berta.open(page)).text, `${page}/approve`);
  await press(carl, page, `${page}/cancel`);
  const { status, text } = await berta.post(`${page}/approve`, form);
  expect(status).toBe(409);
  expect(wordsOf(text)).toContain('Nothing was changed. Carl has cancelled it');
});

test('notes of two people stand with author and time, one is removed by who has written it, and the history knows of them', async () => {
  const { browser: carl, staff } = await arrive('Carl');
  const { browser: berta } = await arrive('Berta');
  const page = `/applications/${await applied(staff)}`;
  const form = hiddenOf((await berta.open(page)).text, `${page}/note`);
  await press(carl, page, `${page}/note`, { note: 'Has a garden.' });
  expect((await berta.post(`${page}/note`, { ...form, note: 'Has a dog.' })).status).toBe(303);
  const words = wordsOf((await carl.open(page)).text);
  expect(words).toMatch(/Has a dog\. Berta ?, .*Has a garden\. You, /);
  for (const deed of ['Berta has noted something', 'You have noted something']) expect(words).toContain(deed);
  await press(carl, page, `${page}/note/remove`);
  const left = wordsOf((await berta.open(page)).text);
  expect(left).toContain('Has a dog.');
  expect(left).not.toContain('Has a garden.');
  expect(left).toContain('Carl has noted something');
});

test('the links to the page of an adopter are ended, and the adopter gets the next one if that is ticked', async () => {
  const { browser, staff } = await arrive('Carl', null, mailing);
  const ids = [];
  for (let i = 0; i < 3; i += 1) ids.push((await staff.apply((await staff.addPet()).id, { isMailed: true })).id);
  await mailing.store.write('update applications set is_confirmed = true where id = any($1)', ids.slice(0, 2));
  const pageOf = (id: bigint | undefined) => `/applications/${id}`;
  expect(wordsOf((await browser.get(pageOf(ids[0]))).text)).toContain('Mail the adopter a new one');
  expect(wordsOf((await browser.get(pageOf(ids[2]))).text)).not.toContain('Mail the adopter a new one');
  for (const [i, values] of [{ mails: 'true' }, {}, { mails: 'true' }].entries())
    expect((await press(browser, pageOf(ids[i]), `${pageOf(ids[i])}/end-link`, values)).status).toBe(303);
  const rows = await mailing.store.read<{ number: bigint; mailed: boolean }>(
    `select link_number as number, exists (select from mail where kind = 'status_link' and subject_id = applications.id) as mailed
      from applications where id = any($1) order by id`,
    ids,
  );
  expect(rows).toEqual([true, false, false].map((mailed) => ({ number: 1n, mailed })));
});

test('the preview of a mail is the text that is sent', async () => {
  const { browser, staff } = await arrive('Carl', null, mailing);
  const application = await staff.apply((await staff.addPet('Biscuit <3')).id, { isMailed: true });
  const { id } = application;
  const page = `/applications/${id}/decline`;
  const message = 'Biscuit needs a home\r\nwithout cats & dogs.';
  const preview = await press(browser, page, page, {});
  expect(preview.status).toBe(303);
  await staff.decide(id, 'reopen');
  await mailing.store.write('update applications set is_confirmed = true where id = $1', id);
  const shown = await browser.post(`${page}/preview`, { ...hiddenOf((await browser.open(page)).text, page), message });
  expect(shown.status).toBe(200);
  expect(await staff.statusOf('applications', id)).toBe('reviewing');
  const acceptPage = (await browser.get(`/applications/${id}/accept`)).text;
  const read = applicationMailReader({
    links: { pageUrl: () => linkOfAdopter, confirmUrl: () => '', applicationsList: () => ({ url: '', reader: 'people' }) },
    store: 'Danube',
    language: 'en',
    applicationExpiryDays: 30,
  });
  const mailOf = async (kind: string) => {
    const mail = await read(mailing.store.dependencies.db, { kind, subjectId: id } as Parameters<typeof read>[1]);
    if (!mail) throw new Error('no mail is sent');
    return mail;
  };
  expect((await press(browser, page, page, { message })).status).toBe(303);
  const declined = await mailOf('declined');
  expect(declined.text).toContain('> without cats & dogs.');
  expect(decode(shown.text)).toContain(declined.text.trimEnd());
  expect(decode(shown.text)).toContain(declined.subject);
  await staff.decide(id, 'reopen');
  await staff.decide(id, 'accept');
  expect(decode(acceptPage)).toContain((await mailOf('accepted')).text.trimEnd());
});

test('a preview needs the token of the session, and a text that can be sent', async () => {
  const { browser, staff } = await arrive('Carl', null, mailing);
  const page = `/applications/${(await staff.apply((await staff.addPet()).id, { isMailed: true })).id}/decline`;
  expect((await browser.post(`${page}/preview`, { message: 'Hello' })).status).toBe(403);
  const form = hiddenOf((await browser.open(page)).text, page);
  const long = await browser.post(`${page}/preview`, { ...form, message: 'x'.repeat(2_001) });
  expect(long.status).toBe(422);
  expect(wordsOf(long.text)).toContain('At most 2,000 characters; these are 2,001.');
});

const questions: readonly Question[] = [
  { id: 'garden', text: 'Do you have a garden?', type: 'yes_no', required: true },
  { id: 'fence', text: 'How high is the fence?', type: 'line', required: true, onlyIf: { question: 'garden', is: true } },
  { id: 'pets', text: 'Which animals live with you?', type: 'choices', options: ['Dogs', 'Cats'], required: false },
  { id: 'home', text: 'Where do you live?', type: 'choice', options: ['House', 'Flat'], required: true },
  { id: 'why', text: 'Why?', type: 'text', required: false },
];

test('the animal of an application at the desk is found by its name', async () => {
  const { browser, staff } = await arrive('Dora', await addShelter(site, 'Desk Shelter', 'Europe/Vienna'));
  const pet = await staff.addPet();
  const found = await browser.open(`/applications/new?pet=${encodeURIComponent(pet.name)}`);
  expect(found.text).toContain(`href="/applications/new?pet=${pet.id}"`);
  const none = await browser.open('/applications/new?pet=Nobody');
  expect(wordsOf(none.text)).toContain('No animal here is called “Nobody”.');
  const elsewhere = (await arrive('Emil', await addShelter(site, 'Other Desk', 'Europe/Vienna'))).browser;
  expect((await elsewhere.open(`/applications/new?pet=${encodeURIComponent(pet.name)}`)).text).not.toContain(`pet=${pet.id}"`);
});

test('an application is entered at the desk with the questions of the shelter, and what is missing is said beside its field', async () => {
  const asking = await addShelter(site, 'Asking Shelter', 'Europe/Vienna');
  const { browser, staff } = await arrive('Carl', asking);
  const caller = await actAs(site.store, staff.person);
  await setQuestions(site.store.dependencies.db, asking, questions, { key: caller, by: caller, expect: () => undefined });
  const pet = await staff.addPet();
  const page = `/applications/new?pet=${pet.id}`;
  const hidden = hiddenOf((await browser.open(page)).text, '/applications/new');
  const adopter = { ...hidden, name: 'Grace', email: 'grace@example.org', phone: '' };
  const empty = await browser.post('/applications/new', adopter);
  expect(empty.status).toBe(422);
  expect(wordsOf(empty.text)).toContain('2 fields need another look.');
  expect(empty.text).toContain('id="answer_garden-error"');
  expect(empty.text).toContain('value="Grace"');
  const nameless = await browser.post('/applications/new', { ...adopter, name: '' });
  for (const field of ['name', 'answer_garden', 'answer_home'])
    expect(nameless.text).toMatch(new RegExp(`<li><a href="#${field}">.* id="${field}"`, 's'));
  const unasked = await browser.post('/applications/new', { ...adopter, answer_garden: 'false', answer_fence: '1 m', answer_home: 'Flat' });
  expect(unasked.status).toBe(422);
  expect(wordsOf(unasked.text)).toContain('Leave it empty, or change the other answer.');
  const sent = new URLSearchParams({
    ...adopter,
    answer_garden: 'true',
    answer_fence: '1 m',
    answer_home: 'House',
    answer_why: 'Two\r\nlines',
  });
  for (const one of ['Dogs', 'Cats']) sent.append('answer_pets', one);
  const entered = await browser.post('/applications/new', sent);
  expect(entered.status).toBe(303);
  expect((await browser.post('/applications/new', sent)).location).toBe(entered.location);
  const shown = wordsOf((await browser.open(entered.location ?? '')).text);
  for (const part of [
    'Grace for Biscuit',
    'Do you have a garden? Yes',
    'Which animals live with you? Dogs, Cats',
    'You entered it at the desk',
  ])
    expect(shown).toContain(part);
  const second = await browser.post('/applications/new', { ...adopter, answer_garden: 'false', answer_home: 'Flat' });
  expect(second.status).toBe(409);
  expect(wordsOf(second.text)).toContain('is still open');
});

test('applicants stand side by side, so many on a page, the oldest first', async () => {
  const { browser, staff } = await arrive();
  const pet = await staff.addPet();
  for (const name of ['First', 'Second', 'Third', 'Fourth']) await staff.apply(pet.id, { name });
  const first = await browser.get(`/applications/pets/${pet.id}`);
  const words = wordsOf(first.text);
  expect(words).toContain('4 applications are open');
  expect(words).toContain('The 3 other applications stay open until you decline');
  expect(words.indexOf('First')).toBeLessThan(words.indexOf('Third'));
  expect(words).not.toContain('Fourth');
  const [, next = ''] = /href="([^"]*cursor=\d+)"/.exec(first.text) ?? [];
  expect(wordsOf((await browser.get(next)).text)).toContain('Fourth');
});

test('the longest questions and answers fit into a page', async () => {
  const { browser, staff } = await arrive();
  const pet = await staff.addPet();
  const answers = Array.from({ length: 40 }, (_, i) => ({ question: `q${i}`, text: 'q'.repeat(500), answer: 'a'.repeat(1_000) }));
  for (let i = 0; i < 3; i += 1) {
    const { id } = await staff.apply(pet.id);
    await site.store.write('update applications set answers = $2 where id = $1', id, JSON.stringify(answers));
  }
  const { text } = await browser.get(`/applications/pets/${pet.id}`);
  expect(Buffer.byteLength(text)).toBeLessThan(60_000);
});

test('lists go on where the page before ended, and lead to the search', async () => {
  const crowded = await addShelter(site, 'Crowded Shelter', 'Europe/Vienna');
  const { browser, staff } = await arrive('Carl', crowded);
  const pet = await staff.addPet();
  const seen: string[] = [];
  const made: bigint[] = [];
  for (let i = 0; i < 53; i += 1) made.push((await staff.apply(pet.id)).id);
  for (let path: string | undefined = '/applications'; path !== undefined; ) {
    const { text }: Answer = await browser.get(path);
    seen.push(...[...text.matchAll(/href="\/applications\/(\d+)" data-row/g)].map(([, id = '']) => id));
    const [, next]: readonly string[] = /href="([^"]*cursor=\d+)"/.exec(text) ?? [];
    path = next && decode(next);
  }
  expect(seen).toEqual(made.map(String));
  const [, found = ''] = made.map(String);
  expect((await browser.get(`/adopters?q=${found}`)).text).toContain(`href="/applications/${found}" data-row`);
  expect((await browser.get('/applications')).text).toContain('To decide <span class="number">53</span>');
});
