import { beforeEach, describe, expect, test } from 'vitest';
import { addPet, createManager, type PetBody } from '../../adoption-steps.ts';
import { errorResponse } from '../../error-response.ts';
import { ManualClock } from '../../manual-clock.ts';
import { everything, nothingKnown, profilePath, readProfile, writeProfile } from '../../profile-steps.ts';
import { addShelter, moveToShelter } from '../../shelter-steps.ts';
import { openTestStore } from '../../test-store.ts';

const clock = new ManualClock('2026-11-16T12:00:00Z');
let pet: PetBody;
const store = await openTestStore({ clock });
const [reader, manager] = [await store.createKey(), await createManager(store)];
beforeEach(async () => {
  pet = await addPet(store, manager);
});

const read = async (id = pet.id) => (await readProfile(store, reader, id)).json;
const put = (body: unknown, id: number | string = pet.id) => writeProfile(store, manager, 'PUT', id, body);
const patch = (body: unknown, id: number | string = pet.id) => writeProfile(store, manager, 'PATCH', id, body);
const remove = (id: number) => store.call('DELETE', `/v1/pets/${id}`, { key: manager.key });

/** No two tests use the same externalId, since the animals are of one shelter. */
const full = () => ({ ...everything, externalId: `A-${pet.id}` });
const shown = () => ({
  ...nothingKnown,
  ...full(),
  breeds: { ...everything.breeds, unknown: false },
  age: 'senior',
});

describe('GET /v1/pets/{petId}/profile', () => {
  test('of an animal without one is empty, with every field and an ETag', async () => {
    const response = await readProfile(store, reader, pet.id);
    expect(response).toMatchObject({ status: 200, headers: { etag: expect.stringMatching(/^"[\w-]{22}"$/) } });
    expect(response.json).toEqual(nothingKnown);
  });

  test('with the current ETag is 304', async () => {
    const { headers } = await readProfile(store, reader, pet.id);
    const again = await readProfile(store, reader, pet.id, { headers: { 'if-none-match': headers.etag ?? '' } });
    expect(again).toMatchObject({ status: 304, text: '' });
  });

  test.each(['9007199254740990', 'abc', '1.0'])('with the id %s is 404', async (id) => {
    expect(await readProfile(store, reader, id)).toMatchObject(errorResponse(404, 'pet_not_found', id));
  });

  test('of a removed animal is 404, and so is writing it', async () => {
    await put({ sex: 'male' });
    await remove(pet.id);
    const responses = [await readProfile(store, reader, pet.id), await put({ sex: 'female' }), await patch({ sex: 'female' })];
    for (const response of responses) expect(response).toMatchObject(errorResponse(404, 'pet_not_found', String(pet.id)));
  });

  test('computes the age anew on each day, and the ETag with it', async () => {
    clock.set('2026-05-01T00:00:00Z');
    await put({ birthDate: '2025-05-02' });
    const before = await readProfile(store, reader, pet.id);
    clock.set('2026-05-02T00:00:00Z');
    const after = await readProfile(store, reader, pet.id);
    clock.set('2026-11-16T12:00:00Z');
    expect([before.json.age, after.json.age]).toEqual(['baby', 'young']);
    expect(after.headers.etag).not.toBe(before.headers.etag);
  });
});

describe('PUT /v1/pets/{petId}/profile', () => {
  test('writes every field, and returns what is then read', async () => {
    const response = await put(full());
    expect(response.status).toBe(200);
    expect(response.json).toEqual(shown());
    const again = await readProfile(store, reader, pet.id);
    expect([again.text, again.headers.etag]).toEqual([response.text, response.headers.etag]);
  });

  test('returns the parts of a field in its order, whatever the order in which they were sent', async () => {
    const sent = { adoptionFee: { currency: 'EUR', amount: 5 }, goodWith: { cats: 'yes', children: 'no' } };
    const { text } = await put(sent);
    expect(text).toContain('"adoptionFee":{"amount":5,"currency":"EUR"}');
    expect((await readProfile(store, reader, pet.id)).text).toBe(text);
  });

  test('removes what is left out', async () => {
    await put(full());
    expect((await put({ sex: 'male' })).json).toEqual({ ...nothingKnown, sex: 'male' });
    expect((await put({})).json).toEqual(nothingKnown);
  });

  test('with what was read changes nothing', async () => {
    const { json } = await put(full());
    expect((await put(json)).json).toEqual(json);
  });

  test('ignores fields that are computed', async () => {
    const body = { age: 'baby', breeds: { unknown: true, primary: 'Pug' } };
    expect((await put(body)).json).toEqual({ ...nothingKnown, breeds: { ...nothingKnown.breeds, primary: 'Pug', unknown: false } });
  });

  test('stores times of the write', async () => {
    const times = async () =>
      (
        await store.read<{ created: Date; updated: Date }>(
          'select created_at as created, updated_at as updated from profiles where pet_id = $1',
          pet.id,
        )
      )[0];
    await put({ sex: 'male' });
    const first = await times();
    await put({ sex: 'male' });
    expect(await times()).toEqual(first);
    await put({ sex: 'female' });
    expect((await times())?.updated.getTime()).toBeGreaterThan(first?.updated.getTime() ?? Number.NaN);
  });
});

describe('PATCH /v1/pets/{petId}/profile', () => {
  test.each(['application/json', 'application/merge-patch+json', 'application/merge-patch+json; charset=utf-8'])(
    'as %s changes only what is given',
    async (type) => {
      await put(full());
      const response = await store.call('PATCH', profilePath(pet.id), {
        key: manager.key,
        raw: '{"description":"Short.","goodWith":{"cats":"yes"},"breeds":{"secondary":null},"attributes":{"Empty":null,"New":"1"}}',
        headers: { 'content-type': type },
      });
      expect(response.json).toEqual({
        ...shown(),
        description: 'Short.',
        goodWith: { ...everything.goodWith, cats: 'yes' },
        breeds: { primary: 'Labrador Retriever', secondary: null, mixed: 'yes', unknown: false },
        attributes: { Zodiac: 'Taurus', 'Favourite toy': 'a red ball', New: '1' },
      });
    },
  );

  test('with null for every field leaves an empty profile', async () => {
    await put(full());
    const nulls = Object.fromEntries(Object.keys(everything).map((name) => [name, null]));
    expect((await patch(nulls)).json).toEqual(nothingKnown);
  });

  test('with null within an object removes that value', async () => {
    await put(full());
    expect((await patch({ goodWith: { children: null }, breeds: { mixed: null } })).json).toMatchObject({
      goodWith: { children: 'unknown', dogs: 'no' },
      breeds: { primary: 'Labrador Retriever', mixed: 'unknown' },
    });
  });

  test('without a birth date has no exact one', async () => {
    await put(full());
    expect((await patch({ birthDate: null })).json).toMatchObject({ birthDate: null, birthDateIsExact: false, age: null });
  });

  test('changes half of a fee, and rejects a half that is left over', async () => {
    await put(full());
    expect((await patch({ adoptionFee: { amount: 0 } })).json.adoptionFee).toEqual({ amount: 0, currency: 'EUR' });
    expect(await patch({ adoptionFee: { currency: null } })).toMatchObject(
      errorResponse(400, 'invalid_body', 'adoptionFee.currency is required with an amount.'),
    );
    expect((await patch({ adoptionFee: { amount: null, currency: null } })).json.adoptionFee).toBeNull();
    expect(await patch({ adoptionFee: { currency: 'EUR' } })).toMatchObject(
      errorResponse(400, 'invalid_body', 'adoptionFee.amount is required with a currency.'),
    );
  });

  test('with nothing changes nothing', async () => {
    await put(full());
    expect((await patch({})).json).toEqual(shown());
  });
});

describe('Other media types', () => {
  test.each([
    ['PUT', '/profile', 'application/merge-patch+json'],
    ['POST', '/outcome', 'application/merge-patch+json'],
    ['PATCH', '/profile', 'application/json-patch+json'],
    ['PATCH', '/profile', 'text/plain'],
  ])('%s of the animal%s as %s is 415', async (method, below, type) => {
    const response = await store.call(method, `/v1/pets/${pet.id}${below}`, {
      key: manager.key,
      raw: '{"name":"A"}',
      headers: { 'content-type': type },
    });
    expect(response).toMatchObject(errorResponse(415, 'unsupported_media_type', 'application/json'));
  });
});

describe('Texts', () => {
  const texts = [
    'Ünïcödé 🐕‍🦺 \u{1F408}',
    '"quotes" \\ and {}',
    '<script>alert(1)</script>',
    "O'Malley; drop table",
    'עברית and العربية',
    ' spaces ',
  ];
  test.each(texts)('are returned as they were sent: %j', async (text) => {
    const body = {
      description: `${text}\n\r\n${text}`,
      breeds: { primary: text },
      colors: [text],
      tags: [text],
      externalId: `${text}${pet.id}`,
      attributes: { [text]: `${text}\n${text}` },
    };
    await put(body);
    expect(await read()).toMatchObject(body);
  });

  test('are counted in characters and not in bytes', async () => {
    const body = {
      description: '🐕'.repeat(8_000),
      breeds: { primary: '🐕'.repeat(100) },
      tags: ['🐕'.repeat(40)],
      attributes: { ['🐕'.repeat(100)]: '🐕'.repeat(1_000) },
    };
    expect((await put(body)).json).toMatchObject(body);
  });

  test('of attributes stay in order, also with names of the language', async () => {
    const raw = '{"attributes":{"zeta":"1","constructor":"2","alpha":"3","toString":"4"}}';
    await store.call('PUT', profilePath(pet.id), { key: manager.key, raw, headers: { 'content-type': 'application/json' } });
    expect((await readProfile(store, reader, pet.id)).text).toContain(raw.slice(1, -1));
    await patch({ attributes: { alpha: null, zeta: '5', beta: '6' } });
    expect((await readProfile(store, reader, pet.id)).text).toContain('{"zeta":"5","constructor":"2","toString":"4","beta":"6"}');
  });

  test('of 50 attributes of the longest kind are stored', async () => {
    const long = (i: number) => `${String(i).padStart(2, '0')}${'"'.repeat(98)}`;
    const attributes = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [long(i), '\n"'.repeat(500)]));
    expect((await put({ attributes })).json.attributes).toEqual(attributes);
  });
});

describe('A body is rejected with words, and stores nothing', () => {
  test.each<[string, unknown, string]>([
    ['a description that is too long', { description: 'x'.repeat(8_001) }, 'description must be a string of 1–8,000 characters'],
    ['a blank description', { description: ' \n ' }, 'description must be'],
    ['a control character', { description: 'a\u0007b' }, 'It contains U+0007.'],
    ['a tab', { description: 'a\tb' }, 'It contains U+0009.'],
    ['an override', { description: 'a\u202eb' }, 'It contains U+202E.'],
    ['a line break in a breed', { breeds: { primary: 'Pug\nBeagle' } }, 'breeds.primary must be'],
    ['a breed that is too long', { breeds: { secondary: 'x'.repeat(101) } }, 'breeds.secondary must be a string of 1–100 characters'],
    ['breeds that are a list', { breeds: ['Pug'] }, 'breeds must be'],
    ['no tri-state', { breeds: { mixed: true } }, 'breeds.mixed must be one of yes, no, unknown, null; got true.'],
    ['an unknown companion state', { goodWith: { dogs: 'maybe' } }, 'goodWith.dogs must be one of yes, no, unknown, null; got "maybe".'],
    ['an unknown sex', { sex: 'm' }, 'sex must be one of male, female, unknown, null; got "m".'],
    ['an unknown size', { size: 'XL' }, 'size must be one of small, medium, large, extra_large, null'],
    ['an unknown coat', { coat: 'silky' }, 'coat must be one of hairless'],
    ['a weight of 0', { weightGrams: 0 }, 'weightGrams must be an integer from 1 to'],
    ['a weight with a fraction', { weightGrams: 1.5 }, 'weightGrams must be an integer'],
    ['four colors', { colors: ['a', 'b', 'c', 'd'] }, 'colors must be a list of at most 3 different strings'],
    ['the same color twice', { colors: ['a', 'a'] }, 'colors must be a list of at most 3 different strings'],
    ['a color that is too long', { colors: ['x'.repeat(41)] }, 'colors[0] must be a string of 1–40 characters'],
    ['21 tags', { tags: Array.from({ length: 21 }, (_, i) => `t${i}`) }, 'tags must be a list of at most 20'],
    ['a blank tag', { tags: [' '] }, 'tags[0] must be'],
    ['a date in another form', { birthDate: '01.05.2024' }, 'birthDate must be a date such as 2024-05-01'],
    ['a date that does not exist', { birthDate: '2023-02-29' }, 'birthDate must be a date that exists; got "2023-02-29".'],
    [
      'a birth in the future',
      { birthDate: '2026-11-18' },
      'birthDate must not be in the future; got "2026-11-18", and today is 2026-11-16.',
    ],
    ['a birth before 1900', { birthDate: '1899-12-31' }, 'birthDate must be 1900-01-01 or later'],
    ['an arrival in the future', { arrivedOn: '2027-01-01' }, 'arrivedOn must not be in the future'],
    ['a number as a truth value', { birthDateIsExact: 1 }, 'birthDateIsExact must be true or false'],
    ['a fee without a currency', { adoptionFee: { amount: 5 } }, 'adoptionFee.currency is required'],
    ['a negative fee', { adoptionFee: { amount: -1, currency: 'EUR' } }, 'adoptionFee.amount must be an integer from 0 to'],
    ['a fee that is rounded', { adoptionFee: { amount: 1e300, currency: 'EUR' } }, 'adoptionFee.amount must be'],
    ['a currency in words', { adoptionFee: { amount: 1, currency: 'Euro' } }, 'adoptionFee.currency must be three capital letters'],
    ['a video without https', { videoUrl: 'http://video.example' }, 'videoUrl must be an https URL'],
    ['a script as a video', { videoUrl: 'javascript:alert(1)' }, 'videoUrl must be an https URL'],
    ['a video that is no URL', { videoUrl: 'https://[' }, 'videoUrl must be a valid URL'],
    ['a password in a URL', { videoUrl: 'https://ada:secret@video.example' }, 'videoUrl contains a user name or a password'],
    ['an empty externalId', { externalId: '' }, 'externalId must be a string of 1–100 characters'],
    ['51 attributes', { attributes: Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`n${i}`, ''])) }, 'attributes must be'],
    ['an attribute that is a number', { attributes: { Age: 3 } }, 'attributes.Age must be a string of at most 1,000 characters'],
    ['an attribute that is too long', { attributes: { A: 'x'.repeat(1_001) } }, 'attributes.A must be a string'],
    ['a name that is too long', { attributes: { ['x'.repeat(101)]: '' } }, 'attributes must be'],
    ['a blank name', { attributes: { ' ': '' } }, 'attributes must be'],
    [
      'an id that does not exist',
      { bondedWith: [999_999_999] },
      'bondedWith must name existing animals; there is no animal with id 999999999.',
    ],
    ['an id as text', { bondedWith: ['1'] }, 'bondedWith[0] must be an integer (int64)'],
    ['11 ids', { bondedWith: Array.from({ length: 11 }, (_, i) => i) }, 'bondedWith must be a list of at most 10'],
    ['a list', [], 'The body must be an object with fields of the profile'],
    ['null', null, 'The request body is empty or null. Send an object with fields of the profile.'],
  ])('%s', async (_, body, words) => {
    await put({ sex: 'male' });
    for (const method of [put, patch]) expect(await method(body)).toMatchObject(errorResponse(400, 'invalid_body', words));
    expect(await read()).toEqual({ ...nothingKnown, sex: 'male' });
  });

  test('a 51st attribute by PATCH', async () => {
    const pairs = (from: number, count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`n${from + i}`, 'x']));
    await put({ attributes: pairs(0, 50) });
    expect(await patch({ attributes: { more: 'x' } })).toMatchObject(errorResponse(400, 'invalid_body', 'with these there would be 51'));
    expect((await patch({ attributes: { more: 'x', n0: null } })).status).toBe(200);
  });

  test('several faults, each with its field', async () => {
    const { json } = await put({ sex: 'm', size: 'XL', tags: [''] });
    expect(json).toMatchObject({ message: expect.stringMatching(/^sex must be .+ size must be .+ tags\[0\] must be /) });
  });

  test('a lone surrogate', async () => {
    const raw = String.raw`{"description":"a\ud800b"}`;
    const response = await store.call('PUT', profilePath(pet.id), {
      key: manager.key,
      raw,
      headers: { 'content-type': 'application/json' },
    });
    expect(response).toMatchObject(errorResponse(400, 'invalid_body', 'It contains U+D800.'));
  });
});

test('a day that has begun somewhere on earth is not in the future', async () => {
  clock.set('2026-11-16T10:30:00Z');
  expect((await put({ birthDate: '2026-11-17' })).json).toMatchObject({ birthDate: '2026-11-17', age: 'baby' });
  clock.set('2026-11-16T12:00:00Z');
});

describe('bondedWith', () => {
  test('has ids in the order given, and leaves out animals that were removed since', async () => {
    const [one, other, gone] = [await addPet(store, manager), await addPet(store, manager), await addPet(store, manager)];
    expect((await put({ bondedWith: [other.id, gone.id, one.id] })).json.bondedWith).toEqual([other.id, gone.id, one.id]);
    await remove(gone.id);
    const { json, headers } = await readProfile(store, reader, pet.id);
    expect(json.bondedWith).toEqual([other.id, one.id]);
    const { status } = await store.call('PUT', profilePath(pet.id), {
      key: manager.key,
      body: json,
      headers: { 'if-match': headers.etag ?? '' },
    });
    expect(status).toBe(200);
  });

  test('rejects the animal itself, a repeated one and a removed one', async () => {
    const other = await addPet(store, manager);
    expect(await put({ bondedWith: [pet.id] })).toMatchObject(errorResponse(400, 'invalid_body', `${pet.id} is the animal itself`));
    expect(await put({ bondedWith: [other.id, other.id] })).toMatchObject(errorResponse(400, 'invalid_body', `got ${other.id} twice`));
    await remove(other.id);
    expect(await put({ bondedWith: [other.id] })).toMatchObject(
      errorResponse(400, 'invalid_body', `there is no animal with id ${other.id}`),
    );
  });

  test('reads ids beyond 2^53 exactly', async () => {
    const raw = '{"bondedWith":[9223372036854775807]}';
    const response = await store.call('PUT', profilePath(pet.id), {
      key: manager.key,
      raw,
      headers: { 'content-type': 'application/json' },
    });
    expect(response).toMatchObject(errorResponse(400, 'invalid_body', 'there is no animal with id 9223372036854775807'));
  });
});

describe('externalId', () => {
  test('of another animal of the shelter is 409, names that animal and stores nothing', async () => {
    const other = await addPet(store, manager, { name: 'Zoe' });
    await put({ externalId: 'X-1' }, other.id);
    for (const method of [put, patch]) {
      expect(await method({ externalId: 'X-1', sex: 'male' })).toMatchObject(
        errorResponse(409, 'external_id_taken', `Zoe (id ${other.id}) of shelter 1 already has the externalId "X-1".`),
      );
    }
    expect(await read()).toEqual(nothingKnown);
  });

  test('may be written again for the same animal, and is free once that is removed', async () => {
    const other = await addPet(store, manager);
    await put({ externalId: 'X-2' }, other.id);
    expect((await patch({ externalId: 'X-2' }, other.id)).status).toBe(200);
    await remove(other.id);
    expect((await put({ externalId: 'X-2' })).status).toBe(200);
  });

  test('may be the same in another shelter', async () => {
    const other = await addPet(store, manager);
    await put({ externalId: 'X-3' }, other.id);
    await moveToShelter(store, pet.id, await addShelter(store, 'Second'));
    expect((await put({ externalId: 'X-3' })).status).toBe(200);
    await expect(moveToShelter(store, other.id, await shelterOf(pet))).rejects.toThrow('profiles_external_id');
  });

  test('goes to one of two animals that ask for it at once', async () => {
    const other = await addPet(store, manager);
    const responses = await Promise.all([pet, other].map(({ id }) => put({ externalId: 'X-4' }, id)));
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 409]);
  });
});

async function shelterOf({ id }: PetBody): Promise<bigint> {
  const rows = await store.read<{ shelter: bigint }>('select shelter_id as shelter from profiles where pet_id = $1', id);
  return rows[0]?.shelter ?? 0n;
}
