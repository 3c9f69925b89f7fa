import { expect, test } from 'vitest';
import { addShelter } from './console-steps.ts';
import { hiddenOf, openTestConsole, wordsOf } from './test-console.ts';

const site = await openTestConsole();

const readNames = () =>
  site.store.read<{ email: string; name: string }>('select email, name from people where removed_at is null order by id');

test('a form that is sent again with the same content shows the first result, and with other content is another form', async () => {
  const admin = await site.arrive({ role: 'admin' });
  const hidden = hiddenOf((await admin.open('/people/invite')).text, '/people/invite');
  const form = { ...hidden, email: 'once@example.org', name: 'Once', role: 'staff', reach: 'store', shelter: '' };
  const first = await admin.post('/people/invite', form);
  const again = await admin.post('/people/invite', form);
  expect([first.status, again.status]).toEqual([303, 303]);
  expect(again.location).toBe(first.location);
  const other = await admin.post('/people/invite', { ...form, email: 'other@example.org' });
  expect(other.location).not.toBe(first.location);
  expect((await readNames()).filter(({ email }) => /^(once|other)@/.test(email))).toHaveLength(2);
});

test('the same form from two clicks at once is carried out once', async () => {
  const admin = await site.arrive({ role: 'admin' });
  const hidden = hiddenOf((await admin.open('/people/invite')).text, '/people/invite');
  const form = { ...hidden, email: 'twice@example.org', role: 'staff', reach: 'store' };
  const answers = await Promise.all(Array.from({ length: 5 }, () => admin.post('/people/invite', form)));
  // One that waits too long for the first is told to try again.
  const [location = '', ...others] = new Set(answers.flatMap((answer) => answer.location ?? []));
  expect(others).toEqual([]);
  expect(location).toMatch(/^\/people\/\d+$/);
  const rows = await site.store.read(`select from audit where act = 'person.invited' and target_id = $1`, location.slice(8));
  expect(rows).toHaveLength(1);
});

test('the link of an invitation is shown once and stored nowhere', async () => {
  const admin = await site.arrive({ role: 'admin' });
  const hidden = hiddenOf((await admin.open('/people/invite')).text, '/people/invite');
  const form = { ...hidden, email: 'shown@example.org', role: 'staff', reach: 'store' };
  const sent = await admin.post('/people/invite', form);
  const page = await admin.open(sent.location ?? '');
  const [, token = ''] = /\/invitation\/([\w-]{43})/.exec(page.text) ?? [];
  expect(token).not.toBe('');
  expect((await admin.open(sent.location ?? '')).text).not.toContain('/invitation/');
  const again = await admin.post('/people/invite', form);
  const repeated = wordsOf((await admin.open(again.location ?? '')).text);
  expect(repeated).toContain('The link was shown once: if you have not seen it, invite again for another one.');
  expect(repeated).not.toContain('Send this link');
  const stored = await site.store.read<{ message: string }>('select message from form_results');
  expect(JSON.stringify(stored)).not.toContain(token);
});

test('what is wrong is said beside the field, and what was typed is kept', async () => {
  const admin = await site.arrive({ role: 'admin' });
  const values = { email: '', name: 'A <b>name</b>', role: 'staff', reach: 'shelter', shelter: 'x'.repeat(201) };
  const { status, text } = await admin.submit('/people/invite', '/people/invite', values);
  expect(status).toBe(422);
  expect(wordsOf(text)).toContain('2 fields need another look.');
  expect(text).toContain('value="A &#60;b&#62;name&#60;/b&#62;"');
  expect(text).toContain('id="email-error">Fill this in.');
  expect(text).toContain('id="shelter-error"');
  // The page opens at the list of them, which leads to each.
  expect(text.match(/<[^>]*\bautofocus\b[^>]*>/g)).toEqual([expect.stringContaining('<div class="banner bad"')]);
  for (const field of ['email', 'shelter']) expect(text).toMatch(new RegExp(`<li><a href="#${field}">.*<input [^>]*id="${field}"`, 's'));
  const one = await admin.submit('/people/invite', '/people/invite', { ...values, shelter: 'Nowhere', email: 'one@example.org' });
  expect(wordsOf(one.text)).toContain('One field needs another look.');
  expect(one.text.match(/<[^>]*\bautofocus\b[^>]*>/g)).toEqual([expect.stringContaining('name="shelter"')]);
});

test('what only the store can check is said together with what the form can', async () => {
  const admin = await site.arrive({ role: 'admin' });
  const values = { email: '', name: '', role: 'staff', reach: 'shelter', shelter: 'Nowhere' };
  const { status, text } = await admin.submit('/people/invite', '/people/invite', values);
  expect(status).toBe(422);
  expect(text).toContain('id="email-error">Fill this in.');
  expect(text).toContain('id="shelter-error">No shelter has “Nowhere” in its name');
});

test('what is sent when the session has ended is shown again by a reload after signing in', async () => {
  const admin = await site.arrive({ role: 'admin' });
  const hidden = hiddenOf((await admin.open('/people/invite')).text, '/people/invite');
  const typed = { ...hidden, email: 'typed@example.org', name: 'Typed in the kennel', role: 'staff', reach: 'store' };
  admin.cookies.clear();
  const out = await admin.post('/people/invite', typed);
  expect([out.status, wordsOf(out.text)]).toEqual([401, expect.stringContaining('come back to this one and reload it')]);
  const again = await site.enter(admin.person);
  const shown = await again.post('/people/invite', typed);
  expect(shown.status).toBe(403);
  expect(wordsOf(shown.text)).toContain('Look at it once more, and send it again.');
  expect(shown.text).toContain('value="Typed in the kennel"');
  expect((await again.post('/people/invite', { ...typed, ...hiddenOf(shown.text, '/people/invite') })).status).toBe(303);
});

test('a form from another site, without an origin, or with the token of another session changes nothing', async () => {
  const admin = await site.arrive({ role: 'admin' });
  const other = await site.arrive({ role: 'admin' });
  const page = await admin.open('/people/invite');
  const form: Record<string, string> = {
    ...hiddenOf(page.text, '/people/invite'),
    email: 'forged@example.org',
    role: 'admin',
    reach: 'store',
  };
  const before = (await readNames()).length;
  const evil = 'https://evil.example';
  const attempts = [
    await admin.post('/people/invite', form, { headers: { 'sec-fetch-site': 'cross-site' } }),
    await admin.post('/people/invite', form, { headers: { 'sec-fetch-site': 'same-site' } }),
    await admin.post('/people/invite', form, { headers: { 'sec-fetch-site': 'none' } }),
    await admin.send('/people/invite', { method: 'POST', body: new URLSearchParams(form) }),
    await admin.send('/people/invite', { method: 'POST', body: new URLSearchParams(form), headers: { origin: evil } }),
    await admin.send('/people/invite', { method: 'POST', body: new URLSearchParams(form), headers: { origin: 'null' } }),
    await other.post('/people/invite', form),
    await admin.post('/people/invite', { ...form, _token: '' }),
    await admin.post('/people/invite', { ...form, _token: `${form['_token']}x` }),
  ];
  expect(attempts.map(({ status }) => status)).toEqual(attempts.map(() => 403));
  expect(await readNames()).toHaveLength(before);
  const own = await admin.send('/people/invite', { method: 'POST', body: new URLSearchParams(form), headers: { origin: site.url } });
  expect(own.status).toBe(303);
});

test('the results of forms are bounded by person, and swept after a day', async () => {
  const admin = await site.arrive({ role: 'admin' });
  await site.store.asOwner(
    `insert into form_results (person_id, form_id, content, created_at)
      select $1, decode(lpad(to_hex(n), 32, '0'), 'hex'), sha256('x'), now() - make_interval(secs => n) from generate_series(1, 230) n`,
    admin.person.id,
  );
  for (const name of ['a', 'b', 'c'])
    await admin.submit('/people/invite', '/people/invite', { email: `${name}@example.org`, role: 'staff', reach: 'store' });
  const [count] = await site.store.read<{ count: bigint }>('select count(*) from form_results where person_id = $1', admin.person.id);
  expect(Number(count?.count)).toBeLessThanOrEqual(204);
});

test('the shelter of an invitation is named or numbered, and the whole store is chosen', async () => {
  const admin = await site.arrive({ role: 'admin' });
  const [danube, hill, mill] = [
    await addShelter(site, 'Danube Shelter', 'UTC'),
    await addShelter(site, 'Hill Shelter', 'UTC'),
    await addShelter(site, 'Hill Shelter by the Mill', 'UTC'),
  ];
  let invited = 0;
  const invite = async (place: Record<string, string>) => {
    invited += 1;
    const email = `placed-${invited}@example.org`;
    const { status, text } = await admin.submit('/people/invite', '/people/invite', { email, role: 'staff', ...place });
    const [person] = await site.store.read<{ shelterId: bigint | null }>(
      'select shelter_id as "shelterId" from people where email = $1',
      email,
    );
    return status === 303 ? person?.shelterId : wordsOf(text);
  };
  expect(await invite({ reach: 'shelter', shelter: 'danube' })).toBe(danube);
  expect(await invite({ reach: 'shelter', shelter: String(mill) })).toBe(mill);
  expect(await invite({ reach: 'shelter', shelter: 'hill shelter' })).toBe(hill);
  expect(await invite({ reach: 'shelter', shelter: 'hill' })).toContain(
    `Hill Shelter (number ${hill}), Hill Shelter by the Mill (number ${mill})`,
  );
  expect(await invite({ reach: 'shelter', shelter: '50%' })).toContain('No shelter has “50%” in its name');
  expect(await invite({ reach: 'shelter', shelter: ' ' })).toContain('Write the name or the number');
  expect(await invite({ reach: 'store', shelter: 'danube' })).toContain('Leave it empty for the whole store');
  expect(await invite({})).toContain('Choose one shelter, or the whole store.');
  expect(await invite({ reach: 'store' })).toBeNull();
});
