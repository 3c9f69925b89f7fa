import type pg from 'pg';
import { expect, test } from 'vitest';
import { dumpDatabase, linesWith } from '../../../testkit/dump.ts';
import { testAuthor } from '../../../testkit/test-author.ts';
import { byGrams, fillAdopterWords, newestFirst } from '../../src/adoption/applications/adopter-search.ts';
import { selectMatches, selectNewestMatches } from '../../src/adoption/applications/adopter-search-queries.ts';
import { eraseByEmail } from '../../src/adoption/applications/applicants.ts';
import type { Db, Settings } from '../../src/platform/db/handles.ts';
import { Staff } from './adoption-site.ts';
import { addShelter } from './console-steps.ts';
import { type Answer, openTestConsole, type TestBrowser, wordsOf } from './test-console.ts';

const site = await openTestConsole();
const { store } = site;
const { clientId } = await store.createKey();
let adopters = 0;

async function arrive(shelterId: bigint | null) {
  const browser = await site.arrive({ role: 'staff', shelterId, name: 'Carl' });
  return { browser, staff: new Staff(site, browser.person) };
}

/** A shelter of its own, so that a test finds nobody of another. */
async function open() {
  const shelterId = await addShelter(site, 'Danube Shelter', 'Europe/Vienna');
  return { shelterId, ...(await arrive(shelterId)) };
}

interface Given {
  readonly name: string;
  readonly email?: string;
  readonly phone?: string;
  readonly status?: string;
}

/** An application as a partner sends it. */
async function apply(shelterId: bigint, { name, email, phone, status = 'withdrawn' }: Given): Promise<bigint> {
  adopters += 1;
  const [row] = await store.write<{ id: bigint }>(
    `with pet as (insert into pets (category_id, status, name, shelter_id) values (1, 'available', 'Biscuit', $2) returning id)
      insert into applications (client_id, pet_id, shelter_id, status, is_mailed, adopter_name, adopter_email, adopter_address, adopter_phone, answers)
      select $1, id, $2, $3, true, $4, $5, lower($5), $6, '[]' from pet returning id`,
    clientId,
    shelterId,
    status,
    name,
    email ?? `a${adopters}@mail.test`,
    phone ?? null,
  );
  return row?.id ?? 0n;
}

const rowsOf = ({ text }: Pick<Answer, 'text'>) =>
  [...text.matchAll(/href="(\/(?:applications|orders)\/\d+)" data-row/g)].map(([, path]) => path);
const find = async (browser: TestBrowser, q: string) => rowsOf(await browser.get(`/adopters?q=${encodeURIComponent(q)}`));

/** What a caller is called, and how a person at the telephone writes it. */
const spellings: ReadonlyArray<readonly [string, readonly string[]]> = [
  ['Jürgen Müller', ['Mueller', 'muller', 'MÜLLER', 'Müller Jürgen', 'juergen mueller', 'Müller, Jürgen', 'jurgen', 'mull', 'MÜLLE']],
  ["Aoife O'Neill", ['oneill', "o'neill", 'O’Neill', 'o neill', 'O NEILL', 'aoife oneil', 'neill']],
  ['Seán Ó Briain', ['o briain', 'obriain', 'sean', 'Seán O Briain', 'briain sean']],
  ['Annelie Großmann', ['grossmann', 'Großmann', 'GROSSMANN', 'grosmann', 'Annelie Grossmann']],
  ['Søren Ångström', ['soren', 'soeren', 'Søren Angstrom', 'angstroem', 'ÅNGSTRÖM']],
  ['Łukasz Wiśniewski', ['lukasz', 'wisniewski', 'Wiśniew', 'Lukasz Wisn']],
  ['Đorđe Živković', ['dorde', 'zivkovic', 'Živko']],
  ['José María Núñez-Peña', ['jose maria', 'nunez', 'Nunez Pena', 'nunezpena', 'peña', 'Maria Jose']],
  ['François Lefèvre', ['francois', 'lefevre', 'FRANÇOIS LEFEVRE', 'lefev']],
  ['Karin McDonald', ['mcdonald', 'mc donald', 'Mc Donald', 'donald']],
  ['Piet van der Berg', ['vanderberg', 'van der Berg', 'berg piet', 'van  der  berg']],
  ['Anne-Sophie Smith-Jones', ['annesophie', 'anne sophie', 'smith jones', 'smithjones', 'Smith-Jones, Anne-Sophie']],
  ['Юлия Иванова', ['ИВАНОВА', 'иванова', 'юлия', 'Иванова Юлия']],
  ['Γιώργος Παπαδόπουλος', ['γιωργος', 'ΠΑΠΑΔΟΠΟΥΛΟΣ', 'παπαδοπ']],
  ['Wei Wu', ['wu', 'Wu Wei', 'wei wu', 'weiwu']],
  ['王伟', ['王伟']],
  ['İbrahim Yıldız', ['ibrahim', 'yildiz', 'YILDIZ']],
  ['Ｈａｎａ　Ｓａｔｏ', ['hana sato', 'sato', 'Hana']],
];
const phones: ReadonlyArray<readonly [string, readonly string[]]> = [
  [
    '+49 170 1234567',
    ['01701234567', '0170 123 45 67', '0170/1234567', '+49 (0)170 1234567', '0049 170 1234567', '491701234567', '1234567', '4567'],
  ],
  ['0664/98 76-543', ['+43 664 9876543', '0664 9876543', '0043-664-9876543', '664 98', '(0664) 98 76 543', '43 664 9876543']],
  ['(020) 7946 0958', ['+44 20 7946 0958', '020 79460958', '0044 (0)20 7946 0958', '79460958']],
  ['+1 (555) 867-5309', ['5558675309', '555 867 5309', '1-555-867-5309', '867-5309', '+1 555.867.5309']],
];
const addresses: ReadonlyArray<readonly [string, readonly string[]]> = [
  [
    'Ada.Lovelace+dogs@Example.org',
    ['ada.lovelace', 'lovelace@', 'ADA.LOVELACE+dogs@example.org', 'ada lovelace', 'lovelace@example', 'ada.lovelace@example.org'],
  ],
  ['mueller-katze@gmx.test', ['mueller-katze', 'katze@gmx', 'mueller-katze@gmx.test']],
];

test('a hundred ways to write names, telephone numbers and addresses find who is meant', async () => {
  const { shelterId, browser } = await open();
  const asked: Array<{ q: string; path: string }> = [];
  for (const [name, ways] of spellings) {
    const path = `/applications/${await apply(shelterId, { name })}`;
    asked.push(...ways.map((q) => ({ q, path })));
  }
  for (const [phone, ways] of phones) {
    const path = `/applications/${await apply(shelterId, { name: 'Someone', phone })}`;
    asked.push(...ways.map((q) => ({ q, path })));
  }
  for (const [email, ways] of addresses) {
    const path = `/applications/${await apply(shelterId, { name: 'Somebody', email })}`;
    asked.push(...ways.map((q) => ({ q, path })));
  }
  expect(asked.length).toBeGreaterThanOrEqual(100);
  const missed: string[] = [];
  const staff = await arrive(shelterId);
  for (const [i, { q, path }] of asked.entries()) {
    const by = i % 2 === 0 ? browser : staff.browser;
    if (!(await find(by, q)).includes(path)) missed.push(q);
  }
  expect(missed).toEqual([]);
});

test('adopters are found in every state but unconfirmed, by orders without an application too, and once with both', async () => {
  const { shelterId, browser, staff } = await open();
  const ids: bigint[] = [];
  for (const status of ['submitted', 'reviewing', 'declined', 'withdrawn'])
    ids.push(await apply(shelterId, { name: 'Nora Quill', status }));
  const unconfirmed = await apply(shelterId, { name: 'Nora Quill', status: 'unconfirmed' });
  expect(await find(browser, 'quill')).toEqual(ids.reverse().map((id) => `/applications/${id}`));
  await store.write(`update applications set status = 'submitted' where id = $1`, unconfirmed);
  expect(await find(browser, 'quill')).toContain(`/applications/${unconfirmed}`);
  const order = await staff.placeOrder((await staff.addPet()).id);
  expect(await find(browser, 'eve')).toEqual([`/orders/${order.id}`]);
  const { orderId } = await staff.decide((await staff.apply((await staff.addPet()).id, { name: 'Zoe Twice' })).id, 'accept');
  expect(await find(browser, 'twice')).toEqual([`/orders/${orderId}`]);
});

test('a number finds the application, the order and the telephone with it, and words without a letter nobody', async () => {
  const { shelterId, browser } = await open();
  const id = await apply(shelterId, { name: 'Nora', phone: '0170 5550199' });
  expect(await find(browser, `#${id}`)).toEqual([`/applications/${id}`]);
  expect(await find(browser, '5550199')).toEqual([`/applications/${id}`]);
  for (const q of ['%', '_', '...', '\\', "' or 1=1", 'a'.repeat(300)]) expect(await find(browser, q)).toEqual([]);
  expect(wordsOf((await browser.get('/adopters?q=nobody')).text)).toContain('Nobody here has “nobody”');
});

test('what a role may not see is not found: another shelter, or anything by a volunteer', async () => {
  const [danube, inn] = [await open(), await open()];
  const id = await apply(danube.shelterId, { name: 'Secretia Only', phone: '0170 777888999' });
  for (const q of ['secretia', '777888999', `#${id}`]) expect(await find(inn.browser, q)).toEqual([]);
  expect(await find(danube.browser, 'secretia')).toEqual([`/applications/${id}`]);
  expect(await find((await arrive(null)).browser, 'secretia')).toEqual([`/applications/${id}`]);
  const volunteer = await site.arrive({ role: 'volunteer', shelterId: danube.shelterId });
  expect((await volunteer.get('/adopters?q=secretia')).status).toBe(403);
});

test('an adopter moves with the animal, is found by a new name at once, and no more once it is erased, in a dump too', async () => {
  const [danube, inn] = [await open(), await open()];
  const id = await apply(danube.shelterId, {
    name: 'Quentin Wanderer',
    email: 'quentin.w@mail.test',
    phone: '0170 31415926',
    status: 'submitted',
  });
  await store.write('update pets set shelter_id = $1 where id = (select pet_id from applications where id = $2)', inn.shelterId, id);
  expect(await find(danube.browser, 'wanderer')).toEqual([]);
  expect(await find(inn.browser, 'wanderer')).toEqual([`/applications/${id}`]);
  await store.write(`update applications set status = 'withdrawn' where id = $1`, id);
  const traces = ['quentin', 'wanderer', '31415926'];
  expect(linesWith(await dumpDatabase(store.databaseUrl), traces).length).toBeGreaterThan(1);
  await eraseByEmail(store.dependencies.db, () => true, testAuthor, 'quentin.w@mail.test', 10);
  for (const q of ['quentin', '31415926']) expect(await find(inn.browser, q)).toEqual([]);
  expect(linesWith(await dumpDatabase(store.databaseUrl), traces)).toEqual([]);
});

test('rows of an earlier release are found once the worker has read them, and those that are erased meanwhile never', async () => {
  const { shelterId, browser } = await open();
  const [kept, erased] = [await apply(shelterId, { name: 'Oldie Kept' }), await apply(shelterId, { name: 'Oldie Gone' })];
  const order = await (await arrive(shelterId)).staff.placeOrder((await (await arrive(shelterId)).staff.addPet()).id);
  await store.asOwner('delete from adopter_words');
  await store.asOwner(
    `update adopter_words_fill set filled_to = 0, fill_until = (select max(id) from applications) where subject = 'application'`,
  );
  await store.asOwner(`update adopter_words_fill set filled_to = 0, fill_until = (select max(id) from orders) where subject = 'order'`);
  await store.write(
    'update applications set adopter_name = null, adopter_email = null, adopter_address = null, answers = null where id = $1',
    erased,
  );
  expect(wordsOf((await browser.get('/adopters?q=oldie')).text)).toContain('still reading the adopters of before its last upgrade');
  while ((await fillAdopterWords(store.dependencies.db, 50)) > 0);
  expect(await find(browser, 'oldie')).toEqual([`/applications/${kept}`]);
  expect(await find(browser, 'eve')).toEqual([`/orders/${order.id}`]);
});

test('of a common name the newest are shown, and more has to be typed; a rare one among them is found by the index alone', async () => {
  const { shelterId, browser, staff } = await open();
  const { id: petId } = await staff.addPet();
  const rare = await apply(shelterId, { name: 'Rarity Smith', phone: '0170 90909091' });
  await store.asOwner(
    `insert into applications (client_id, pet_id, shelter_id, status, is_mailed, adopter_name, adopter_email, adopter_address, answers, created_at)
      select $1, $2, $3, 'withdrawn', true, 'Anna Smith', 'anna' || i || '@mail.test', 'anna' || i, '[]', now() + i * interval '1 second' from generate_series(1, 3000) i`,
    clientId,
    petId,
    shelterId,
  );
  await store.asOwner('analyze adopter_words');
  const page = await browser.get('/adopters?q=smith');
  expect(rowsOf(page)).toHaveLength(50);
  expect(wordsOf(page.text)).toContain('There are more than these');
  for (const q of ['rarity', 'rarity smith', '90909091']) expect(await find(browser, q)).toEqual([`/applications/${rare}`]);
  expect(await find(browser, 'anna2999@mail')).toHaveLength(1);
});

test.each(['a shelter', 'the store'])(
  'a search of %s reads the index of what is in the words, or that of times, and no table whole',
  async (whose) => {
    const { shelterId, staff } = await open();
    const { id: petId } = await staff.addPet();
    await store.asOwner(
      `insert into applications (client_id, pet_id, shelter_id, status, is_mailed, adopter_name, adopter_email, adopter_address, adopter_phone, answers)
      select $1, $2, $3, 'withdrawn', true, md5(i::text) || ' Smith', 'anna' || i || '@mail.test', 'anna' || i, '0170 ' || 1000000 + i, '[]' from generate_series(1, 5000) i`,
      clientId,
      petId,
      shelterId,
    );
    await store.asOwner('analyze adopter_words');
    const of = whose === 'the store' ? 'all' : shelterId;
    const explained = async (settings: Settings, run: (tx: Db) => Promise<unknown>) => {
      const plans: string[] = [];
      await store.dependencies.db.search(
        (tx) => {
          const explaining = {
            query: async <Row extends pg.QueryResultRow>(statement: pg.QueryConfig) => {
              const { rows } = await tx.query<{ 'QUERY PLAN': string }>({ ...statement, text: `explain (analyze) ${statement.text}` });
              plans.push(...rows.map((row) => row['QUERY PLAN']));
              return tx.query<Row>(statement);
            },
          };
          return run(explaining);
        },
        1n,
        settings,
      );
      return plans.join('\n');
    };
    const parts = ['1704321', 'smith'];
    const found = await explained(byGrams, (tx) => selectMatches(tx, of, { indexed: parts, parts }, { foundMax: 1_000, limit: 51 }));
    expect(found).toContain('Bitmap Index Scan on adopter_words_by_gram');
    expect(found).not.toContain('Seq Scan');
    const newest = await explained(newestFirst, (tx) => selectNewestMatches(tx, of, parts, { readMax: 1_000, limit: 51 }));
    expect(newest).toContain(`using adopter_words_by_${whose === 'the store' ? 'time' : 'shelter'} on adopter_words`);
    expect(newest).not.toContain('Seq Scan');
  },
);
