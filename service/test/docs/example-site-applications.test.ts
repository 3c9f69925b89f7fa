// The example site with a shelter that takes applications: its form, the adopter's page, and what the store rejects.
import { afterAll, describe, expect, test } from 'vitest';
import { startSite } from '../../../examples/adoption-site/start-site.ts';
import { addPet, createManager } from '../adoption-steps.ts';
import { apply as applyAs, decideAll, readApplication, submit } from '../application-steps.ts';
import { disposeAfterAll } from '../dispose-after-all.ts';
import { createTestStore } from '../test-store.ts';

const questions = [
  { id: 'garden', text: 'Do you have a <garden>?', type: 'yes_no', required: true },
  {
    id: 'fence',
    text: 'How high is the fence?',
    type: 'choice',
    options: ['Up to 1 m', 'Higher'],
    required: true,
    onlyIf: { question: 'garden', is: true },
  },
  { id: 'job', text: 'What do you do all day?', type: 'line', required: false },
  { id: 'why', text: 'Why this animal?', type: 'text', required: true },
  { id: 'others', text: 'Who else lives with you?', type: 'choices', options: ['Children', 'Dogs', 'Cats & "birds"'], required: false },
  { id: 'home', text: 'Where do you live?', type: 'choice', options: ['A', 'B', 'C', 'D', 'E', 'F', 'G', 'H'], required: false },
];
const adopter = { name: 'Ada <Lovelace>', email: 'ada@example.org', phone: '' };
const filledIn: ReadonlyArray<readonly [string, string]> = [
  ['yes_no.garden', 'yes'],
  ['text.fence', 'Higher'],
  ['text.job', ''],
  ['text.why', 'Two\r\nlines'],
  ['choices.others', 'Children'],
  ['choices.others', 'Cats & "birds"'],
  ['text.home', ''],
];

const store = disposeAfterAll(await createTestStore({ env: { HOMEWARD_PUBLIC_URL: 'https://store.example' } }));
const [manager, key] = [await createManager(store), await store.createKey()];
const shelterId = await addShelter({ adoption: 'application', applicationNote: 'Read <this> first.\n\nThen that.' }, questions);
const site = await startSite({ url: store.url, key: key.key, port: 0 });
afterAll(() => site.close());

async function addShelter(given: object, asked: readonly object[] = []): Promise<number> {
  const { json } = await store.call<{ id: number }>('POST', '/v1/shelters', {
    key: manager.key,
    body: { name: 'Danube Shelter', ...given },
  });
  await ask(json.id, asked);
  return json.id;
}

async function ask(id: number, asked: readonly object[]): Promise<void> {
  const path = `/v1/shelters/${id}/questions`;
  const { status, text } = await store.call('PUT', path, { key: manager.key, body: { questions: asked } });
  if (status !== 200) throw new Error(text);
}

async function addAnimal({
  to = shelterId,
  ...given
}: {
  to?: number;
  name?: string;
  status?: 'available' | 'pending' | 'sold';
} = {}): Promise<number> {
  const { id } = await addPet(store, manager, given);
  await store.call('PUT', `/v1/pets/${id}/shelter`, { key: manager.key, body: { shelterId: to } });
  return id;
}

interface Visit {
  readonly status: number;
  readonly location: string;
  readonly caching: string | null;
  readonly text: string;
}

async function visit(path: string, init: RequestInit = {}, at = site): Promise<Visit> {
  const response = await fetch(at.url + path, { redirect: 'manual', ...init });
  const { status, headers } = response;
  return { status, location: headers.get('location') ?? '', caching: headers.get('cache-control'), text: await response.text() };
}

const post = (path: string, fields: ReadonlyArray<readonly [string, string]>, at = site): Promise<Visit> =>
  visit(
    path,
    {
      method: 'POST',
      headers: { origin: at.url },
      body: new URLSearchParams(fields.map(([name, value]): [string, string] => [name, value])),
    },
    at,
  );

interface Sent {
  readonly adopter?: Partial<typeof adopter>;
  readonly answers?: ReadonlyArray<readonly [string, string]>;
  readonly attempt?: string;
}

const send = (petId: number, { adopter: typed, answers = filledIn, attempt = crypto.randomUUID() }: Sent = {}, at = site): Promise<Visit> =>
  post(`/animals/${petId}/apply`, [['attempt', attempt], ...Object.entries({ ...adopter, ...typed }), ...answers], at);

const idOf = ({ location }: Visit): number => Number(/^\/applications\/(\d+)-[\w-]{22}$/.exec(location)?.[1]);
const statusOf = async (id: number) => (await readApplication(store, key, id)).status;
const countOf = async (petId: number) =>
  (await store.call<unknown[]>('GET', `/v1/applications?petId=${petId}`, { key: key.key })).json.length;

describe('The page of an animal whose shelter takes applications', () => {
  test('leads to the form while the animal is available or promised, and not once it has found a home', async () => {
    const [free, promised, sold] = [await addAnimal(), await addAnimal({ status: 'pending' }), await addAnimal({ status: 'sold' })];
    const { text } = await visit(`/animals/${free}`);
    expect(text).toContain(`<a class="button" href="/animals/${free}/apply">Apply for Biscuit</a>`);
    expect([text.includes('<form'), text.includes('by e-mail')]).toEqual([false, false]);
    expect((await visit(`/animals/${promised}`)).text).toContain('is being considered for someone. You can still apply.');
    expect((await visit(`/animals/${promised}/apply`)).status).toBe(200);
    expect((await visit(`/animals/${sold}`)).text).not.toContain('/apply');
    const { status, location } = await visit(`/animals/${sold}/apply`);
    expect([status, location]).toEqual([303, `/animals/${sold}`]);
  });

  test('leads to no form if the shelter takes orders, whose page is as before', async () => {
    const id = await addAnimal({ to: await addShelter({}) });
    expect((await visit(`/animals/${id}`)).text).toContain('Ask to adopt Biscuit');
    const { status, location } = await visit(`/animals/${id}/apply`);
    expect([status, location]).toEqual([303, `/animals/${id}`]);
  });
});

describe('The form', () => {
  test("has the shelter's note and its questions of every type, with whom they are for, and works without the script", async () => {
    const { status, text } = await visit(`/animals/${await addAnimal()}/apply`);
    expect(status).toBe(200);
    expect(text).toContain('<p>Read &#60;this&#62; first.</p><p>Then that.</p>');
    expect(text).toMatch(
      /<legend>Do you have a &#60;garden&#62;\?<\/legend>\s*<div class="options"><label class="tick"><input type="radio" id="question-garden" name="yes_no.garden" value="yes" required> Yes/,
    );
    expect(text).toContain(
      '<fieldset class="asked-if" data-if="yes_no.garden" data-is="yes"><legend>If you answered “Yes” to “Do you have a &#60;garden&#62;?”:</legend>',
    );
    // Not required: without the script everyone sees it.
    expect(text).toContain('<input type="radio" id="question-fence" name="text.fence" value="Up to 1 m" data-required>');
    expect(text).toMatch(
      /<label for="question-job">What do you do all day\? <span class="optional">\(optional\)<\/span><\/label>\s*<input id="question-job" name="text.job" maxlength="200"/,
    );
    expect(text).toContain('<textarea id="question-why" name="text.why" required rows="4" maxlength="2000">');
    expect(text).toContain('<input type="checkbox" id="question-others-2" name="choices.others" value="Cats &#38; &#34;birds&#34;">');
    expect(text).toContain('<select id="question-home" name="text.home">');
    expect(text).toMatch(/<script type="module" src="\/public\/\w+\/apply\.js">/);
  });

  test('sent twice at once and once more is one application, with a page at an unguessable address', async () => {
    const petId = await addAnimal();
    const { text } = await visit(`/animals/${petId}/apply`);
    const attempt = /name="attempt" value="([^"]+)"/.exec(text)?.[1] ?? '';
    const responses = await Promise.all([send(petId, { attempt }), send(petId, { attempt })]);
    responses.push(await send(petId, { attempt }));
    expect((await send(petId, { attempt, adopter: { name: 'Someone Else' } })).status).toBe(409);
    const [first] = responses;
    const address = first?.location ?? '';
    expect(responses.map(({ status, location }) => [status, location])).toEqual(Array(3).fill([303, address]));
    const id = idOf(first as Visit);
    const { answers, adopter: stored } = await readApplication(store, key, id);
    expect(stored).toEqual({ name: adopter.name, email: adopter.email, phone: null });
    expect((answers as Array<{ question: string; answer: unknown }>).map(({ question, answer }) => [question, answer])).toEqual([
      ['garden', true],
      ['fence', 'Higher'],
      ['why', 'Two\nlines'],
      ['others', ['Children', 'Cats & "birds"']],
    ]);
    expect(await countOf(petId)).toBe(1);
    const page = await visit(address);
    expect([page.status, page.caching]).toEqual([200, 'no-store']);
    expect(page.text).toContain('Danube Shelter has your application.');
    expect(page.text).toContain('Ada &#60;Lovelace&#62;');
    expect(page.text).toContain('<a href="https://store.example/a/');
    // Nothing says that this store sends e-mail.
    expect(page.text).not.toMatch(/by e-mail|message is on its way/);
    const forged = [
      `/applications/${id}`,
      `${address.slice(0, -1)}_`,
      address.replace(/\d+-/, `${id + 1}-`),
      address.replace('applications', 'adoptions'),
    ];
    for (const path of forged) expect([path, (await visit(path)).status]).toEqual([path, 404]);
  });

  test('with mistakes is 400, with each at its field, a list of them, and everything that was typed', async () => {
    const petId = await addAnimal();
    const answers = [
      ['yes_no.garden', 'no'],
      ['text.fence', 'Higher'],
      ['text.job', 'Looking "up"'],
      ['text.why', ' '],
      ['choices.others', 'Dogs'],
      ['text.home', 'C'],
    ] as const;
    const { status, text } = await send(petId, { adopter: { phone: '123' }, answers });
    expect(status).toBe(400);
    expect(text).toMatch(/<ul><li><a href="#question-fence">How high is the fence\?<\/a><\/li><li><a href="#question-why">/);
    expect(text).toContain(
      'This is asked only if you answered “Yes” to “Do you have a &#60;garden&#62;?”. Leave it empty, or change that answer.',
    );
    expect(text).toMatch(/id="question-why"[^>]* aria-invalid="true" aria-describedby="question-why-help"/);
    for (const kept of [
      'value="no" required checked>',
      'value="Higher" data-required checked>',
      'value="Looking &#34;up&#34;"',
      'value="Dogs" checked>',
      '<option value="C" selected>',
      'value="123"',
    ])
      expect([kept, text.includes(kept)]).toEqual([kept, true]);
    const invalid = await send(petId, { adopter: { email: 'ada' } });
    expect([invalid.status, /id="email"[^>]* value="ada" aria-invalid="true"/.test(invalid.text)]).toEqual([400, true]);
    expect(await countOf(petId)).toBe(0);
  });

  test('of questions that have changed since it was opened shows the new ones, with what was typed', async () => {
    const other = await addShelter({ adoption: 'application' }, [{ id: 'why', text: 'Why?', type: 'text', required: true }]);
    const petId = await addAnimal({ to: other });
    expect((await visit(`/animals/${petId}/apply`)).text).toContain('Why?');
    await ask(other, [
      { id: 'why', text: 'Why, if we may ask?', type: 'text', required: true },
      { id: 'when', text: 'When?', type: 'line', required: true },
    ]);
    const { status, text } = await send(petId, { answers: [['text.why', 'Because']] });
    expect([status, text.includes('Why, if we may ask?'), text.includes('Because')]).toEqual([400, true, true]);
    expect(text).toMatch(/id="question-when"[^>]* aria-invalid="true"/);
  });

  test('says in words why the store does not take it now, and keeps what was typed', async () => {
    const few = await addShelter({ adoption: 'application', applicationsMax: 1 });
    const [contested, own, late] = [await addAnimal({ to: few }), await addAnimal(), await addAnimal()];
    await submit(store, await store.createKey(), contested);
    const full = await send(contested, { answers: [] });
    expect([full.status, full.text.includes('has many applications')]).toEqual([409, true]);
    expect((await send(own)).status).toBe(303);
    const again = await send(own);
    expect([again.status, again.text.includes('You have applied already'), again.text.includes('Two\nlines')]).toEqual([409, true, true]);
    await store.call('PATCH', `/v1/pets/${late}`, { key: manager.key, body: { status: 'sold' } });
    const tooLate = await send(late);
    expect([tooLate.status, tooLate.text.includes('has just found a home')]).toEqual([409, true]);
    const email = 'eve@example.org';
    for (let open = 0; open < 5; open += 1) expect((await send(await addAnimal(), { adopter: { email } })).status).toBe(303);
    const tooMany = await send(await addAnimal(), { adopter: { email } });
    expect([tooMany.status, tooMany.text.includes('Too many applications are open')]).toEqual([409, true]);
  });

  test('sent from another site, or too long, is rejected and sends nothing', async () => {
    const petId = await addAnimal();
    const body = new URLSearchParams([...Object.entries(adopter), ...filledIn.map(([name, value]) => [name, value] as [string, string])]);
    const elsewhere = await visit(`/animals/${petId}/apply`, { method: 'POST', headers: { origin: 'https://elsewhere.example' }, body });
    const long = await send(petId, { answers: [['text.why', 'x'.repeat(140_000)]] });
    expect([elsewhere.status, long.status, long.text.includes('too long to be sent')]).toEqual([403, 400, true]);
    expect(await countOf(petId)).toBe(0);
  });
});

describe('The page of an application', () => {
  test('shows what the shelter has decided, with what it wrote', async () => {
    const [chosen, declined] = [await addAnimal({ name: 'Frodo' }), await addAnimal()];
    const [one, other] = [await send(chosen), await send(declined)];
    await decideAll(store, manager, idOf(one), 'review', 'accept');
    const message = 'No <stairs>, please.';
    await store.call('POST', `/v1/applications/${idOf(other)}/decline`, { key: manager.key, body: { message } });
    expect((await visit(one.location)).text).toContain('Danube Shelter would like you to adopt Frodo.');
    const { text } = await visit(other.location);
    expect([text.includes('has declined your application'), text.includes('No &#60;stairs&#62;, please.')]).toEqual([true, true]);
    expect(text).not.toContain('/withdraw');
  });

  test('withdraws it after asking once more, and a second press changes nothing', async () => {
    const petId = await addAnimal();
    const sent = await send(petId);
    const { text } = await visit(sent.location);
    expect(text).toContain(`href="${sent.location}/withdraw"`);
    const asked = await visit(`${sent.location}/withdraw`);
    expect([asked.status, asked.text.includes('Withdraw your application for Biscuit?'), await statusOf(idOf(sent))]).toEqual([
      200,
      true,
      'submitted',
    ]);
    const foreign = await visit(`${sent.location}/withdraw`, { method: 'POST', headers: { origin: 'https://elsewhere.example' } });
    expect([foreign.status, await statusOf(idOf(sent))]).toEqual([403, 'submitted']);
    for (let press = 0; press < 2; press += 1) {
      const { status, location } = await post(`${sent.location}/withdraw`, []);
      expect([status, location]).toEqual([303, sent.location]);
    }
    expect(await statusOf(idOf(sent))).toBe('withdrawn');
    expect((await visit(sent.location)).text).toContain('This application was withdrawn.');
    expect((await visit(`${sent.location}/withdraw`)).location).toBe(sent.location);
  });

  test('asks to look for the message if the store sends e-mail, and is 404 with a text once the application is deleted', async () => {
    const env = {
      HOMEWARD_PUBLIC_URL: 'https://store.example',
      HOMEWARD_SMTP_URL: 'smtp://127.0.0.1:9',
      HOMEWARD_MAIL_FROM: 'adoption@store.example',
    };
    await using mailing = await createTestStore({ env });
    const own = await mailing.createKey();
    const staff = await createManager(mailing);
    const { id: petId } = await addPet(mailing, staff);
    await mailing.call('PATCH', '/v1/shelters/1', { key: staff.key, body: { adoption: 'application' } });
    const mailed = await startSite({ url: mailing.url, key: own.key, port: 0 });
    try {
      const sent = await send(petId, { answers: [] }, mailed);
      const { text } = await visit(sent.location, {}, mailed);
      expect(text).toContain('A message is on its way to ada@example.org.');
      expect([text.includes('told by e-mail'), text.includes('/withdraw')]).toEqual([true, false]);
      await mailing.write('delete from applications where id = $1', idOf(sent));
      const restarted = await startSite({ url: mailing.url, key: own.key, port: 0 });
      const gone = await visit(sent.location, {}, restarted);
      await restarted.close();
      expect([gone.status, gone.text.includes('deleted after three days')]).toEqual([404, true]);
    } finally {
      await mailed.close();
    }
  });
});

describe('An order', () => {
  test('for an animal whose shelter takes applications since leads to its form, with what was typed', async () => {
    const petId = await addAnimal({ to: await addShelter({}) });
    expect((await visit(`/animals/${petId}`)).text).toContain('Ask to adopt Biscuit');
    await store.call('PUT', `/v1/pets/${petId}/shelter`, { key: manager.key, body: { shelterId } });
    const { status, text } = await post(`/animals/${petId}`, [...Object.entries({ attempt: crypto.randomUUID(), ...adopter })]);
    expect([status, text.includes('One more step'), text.includes('Why this animal?')]).toEqual([409, true, true]);
    expect(text).toContain('value="Ada &#60;Lovelace&#62;"');
  });

  test('beyond the open orders of an adopter says so in words', async () => {
    const to = await addShelter({});
    const sendOne = async () => {
      const sent = { attempt: crypto.randomUUID(), name: 'Eve', email: 'eve@example.net' };
      return post(`/animals/${await addAnimal({ to })}`, Object.entries(sent));
    };
    for (let open = 0; open < 3; open += 1) expect((await sendOne()).status).toBe(303);
    const { status, text } = await sendOne();
    expect([status, text.includes('Too many requests are open'), text.includes('value="eve@example.net"')]).toEqual([409, true, true]);
  });

  test('is cancelled on its page after asking once more, and the animal needs a home again', async () => {
    const petId = await addAnimal({ to: await addShelter({}) });
    const { location } = await post(
      `/animals/${petId}`,
      Object.entries({ attempt: crypto.randomUUID(), name: 'Bo', email: 'bo@example.org' }),
    );
    expect((await visit(location)).text).toContain(`href="${location}/cancel"`);
    expect((await visit(`${location}/cancel`)).text).toContain('Cancel your request for Biscuit?');
    const statusOfOrder = async () =>
      (await store.call<Array<{ status: string }>>('GET', `/v1/store/orders?petId=${petId}`, { key: key.key })).json[0]?.status;
    expect(await statusOfOrder()).toBe('placed');
    for (let press = 0; press < 2; press += 1) expect((await post(`${location}/cancel`, [])).location).toBe(location);
    expect(await statusOfOrder()).toBe('cancelled');
    const { text } = await visit(location);
    expect([text.includes('This request was cancelled.'), text.includes('/cancel')]).toEqual([true, false]);
    expect((await visit(`/animals/${petId}`)).text).toContain('Ask to adopt Biscuit');
  });
});

test('many may apply for one animal', async () => {
  const petId = await addAnimal();
  const other = await store.createKey();
  for (let i = 0; i < 3; i += 1)
    expect(
      (await applyAs(store, other, petId, { adopter: { name: 'O', email: `o${i}@example.org` }, answers: { garden: false, why: 'x' } }))
        .status,
    ).toBe(201);
  expect((await send(petId)).status).toBe(303);
});
