import { beforeEach, describe, expect, test } from 'vitest';
import { createManager } from '../../adoption-steps.ts';
import { errorResponse } from '../../error-response.ts';
import { holdLocks } from '../../lock-waits.ts';
import { addShelter, createShelterKey } from '../../shelter-steps.ts';
import { openTestStore, type TestKey } from '../../test-store.ts';

const store = await openTestStore();
const manager = await createManager(store);
const reader = await store.createKey({ scopes: ['pets:read'] });

const garden = { id: 'garden', text: 'Do you have a garden?', type: 'yes_no', required: true };
const home = { id: 'home', text: 'Where do you live?', type: 'choice', options: ['flat', 'house'], required: false };
const about = { id: 'about', text: 'Tell us about you.', type: 'text', required: true };
const fence = { ...home, id: 'fence', onlyIf: { question: 'garden', is: true } };
const floor = { id: 'floor', text: 'On which floor?', type: 'line', required: true, onlyIf: { question: 'home', is: 'flat' } };
const pets = { id: 'pets', text: 'Which animals do you have?', type: 'choices', options: ['cats', 'dogs', 'others'], required: false };
const all = [garden, home, about, fence, floor, pets];

let id: number;
beforeEach(async () => {
  id = await addShelter(store);
});

const path = (of: number | string = id) => `/v1/shelters/${of}/questions`;
const get = (of?: number | string) => store.call<{ questions: unknown[] }>('GET', path(of), { key: reader.key });
const put = (questions: unknown, headers: Record<string, string> = {}, { key }: TestKey = manager, of?: number) =>
  store.call<{ questions: unknown[] }>('PUT', path(of), { key, body: { questions }, headers });

describe('GET /v1/shelters/{shelterId}/questions', () => {
  test('of a shelter that asks nothing has an empty list', async () => {
    expect(await get()).toMatchObject({ status: 200, text: '{"questions":[]}' });
  });

  test.each([4_711, 'main'])('of the unknown shelter %s is 404', async (of) => {
    expect(await get(of)).toMatchObject(errorResponse(404, 'shelter_not_found', String(of)));
  });
});

describe('PUT /v1/shelters/{shelterId}/questions', () => {
  test('replaces the questions, which GET returns in their order with the same ETag', async () => {
    await put([about]);
    const response = await put(all);
    expect(response).toMatchObject({ status: 200, json: { questions: all } });
    const read = await get();
    expect(read).toMatchObject({ status: 200, text: response.text });
    expect(read.headers.etag).toBe(response.headers.etag);
  });

  test('with what GET has returned changes nothing', async () => {
    const { text, headers } = await put(all);
    const again = await store.call('PUT', path(), { key: manager.key, raw: text, headers: { 'content-type': 'application/json' } });
    expect(again).toMatchObject({ status: 200, text, headers: { etag: headers.etag } });
  });

  test('with an empty list removes all', async () => {
    await put(all);
    expect(await put([])).toMatchObject({ status: 200, json: { questions: [] } });
    expect((await get()).json).toEqual({ questions: [] });
  });

  test('with a stale If-Match is 412 and changes nothing; with the current one it succeeds, also for the first questions', async () => {
    const none = String((await get()).headers.etag);
    expect((await put([about], { 'if-match': none })).status).toBe(200);
    expect(await put([garden], { 'if-match': none })).toMatchObject(
      errorResponse(412, 'precondition_failed', `The list of questions of shelter ${id} has changed`),
    );
    expect((await get()).json).toEqual({ questions: [about] });
  });

  test('of two at once with the same If-Match, one is 412', async () => {
    const etag = String((await get()).headers.etag);
    // Both wait for the shelter.
    const lock = await holdLocks(store, 'select from shelters where id = $1 for update', [id]);
    const both = [put([about], { 'if-match': etag }), put([garden], { 'if-match': etag })];
    await lock.release();
    expect((await Promise.all(both)).map(({ status }) => status).sort()).toEqual([200, 412]);
  });

  test("with a key of the shelter's staff succeeds, with one of another shelter is 403, with a partner's too", async () => {
    const [staff, other] = [await createShelterKey(store, id), await createShelterKey(store, await addShelter(store, 'Other'))];
    expect((await put([about], {}, staff)).status).toBe(200);
    const words = `To change the details and questions of shelter ${id}, use a key with store:manage, or one that is bound to that shelter`;
    expect(await put([], {}, other)).toMatchObject(errorResponse(403, 'insufficient_scope', words));
    expect(await put([], {}, await store.createKey())).toMatchObject(errorResponse(403, 'insufficient_scope', 'shelter:manage'));
    expect((await get()).json).toEqual({ questions: [about] });
  });

  test('of an unknown shelter is 404', async () => {
    expect(await put([], {}, manager, 4_711)).toMatchObject(errorResponse(404, 'shelter_not_found', '4711'));
  });

  test('takes 40 questions with the longest ids, texts and options', async () => {
    const most = Array.from({ length: 40 }, (_, i) => ({ ...about, id: `${'q'.repeat(38)}${10 + i}`, text: 'ä'.repeat(500) }));
    expect((await put(most)).status).toBe(200);
    const options = Array.from({ length: 30 }, (_, i) => `${'ä'.repeat(198)}${10 + i}`);
    expect((await put([{ ...home, options }])).status).toBe(200);
  });

  type Wrong = readonly [what: string, questions: unknown, words: string];
  const wrong: readonly Wrong[] = [
    ['no list', 'none', 'questions must be a list of at most 40 questions; got "none".'],
    ['41 questions', Array.from({ length: 41 }, (_, i) => ({ ...about, id: `q${i}` })), 'questions must be a list of at most 40 questions'],
    ['a question that is text', ['Why?'], 'questions[0] must be an object; got "Why?".'],
    ['a misspelt field', [about, { ...garden, require: true }], 'questions[1].require is not a field. Did you mean required?'],
    ['no text', [{ ...about, text: undefined }], 'questions[0].text is required.'],
    ['a blank text', [{ ...about, text: ' ' }], 'questions[0].text must be a string of 1–500 characters, not blank'],
    ['a text that is too long', [{ ...about, text: 'x'.repeat(501) }], 'questions[0].text must be a string of 1–500 characters'],
    ['a text of two lines', [{ ...about, text: 'a\nb' }], 'It contains U+000A.'],
    ['an id with a capital letter', [{ ...about, id: 'About' }], 'questions[0].id must be 1–40 of the characters a–z, 0–9 and _'],
    ['an empty id', [{ ...about, id: '' }], 'questions[0].id must be 1–40 of'],
    ['an id that is too long', [{ ...about, id: 'a'.repeat(41) }], 'questions[0].id must be 1–40 of'],
    ['an id that no answer can have', [{ ...about, id: '__proto__' }], 'and not __proto__; got "__proto__".'],
    ['an id twice', [about, garden, { ...home, id: 'garden' }], 'questions[2].id must be unique; "garden" is also the id of questions[1].'],
    [
      'an unknown type',
      [{ ...about, type: 'number' }],
      'questions[0].type must be one of line, text, yes_no, choice, choices; got "number".',
    ],
    ['text as required', [{ ...about, required: 'yes' }], 'questions[0].required must be true or false; got "yes".'],
    ['a choice without options', [{ ...home, options: undefined }], 'questions[0].options is required for the type choice: give 2–30'],
    ['choices without options', [{ ...pets, options: undefined }], 'questions[0].options is required for the type choices'],
    ['one option', [{ ...home, options: ['flat'] }], 'questions[0].options must be a list of 2–30 different strings'],
    ['31 options', [{ ...home, options: Array.from({ length: 31 }, String) }], 'questions[0].options must be a list of 2–30'],
    ['an option twice', [{ ...home, options: ['flat', 'flat'] }], 'questions[0].options must be a list of 2–30 different strings'],
    ['a blank option', [{ ...home, options: ['flat', ''] }], 'questions[0].options[1] must be a string of 1–200 characters, not blank'],
    ['an option that is too long', [{ ...home, options: ['flat', 'x'.repeat(201)] }], 'questions[0].options[1] must be a string of 1–200'],
    [
      'options of a text',
      [{ ...about, options: ['a', 'b'] }],
      'questions[0].options is only for the types choice and choices; this is text.',
    ],
    ['options of a yes', [{ ...garden, options: ['yes', 'no'] }], 'questions[0].options is only for the types choice and choices'],
    ['a condition without a value', [garden, { ...about, onlyIf: { question: 'garden' } }], 'questions[1].onlyIf.is is required.'],
    [
      'a number as condition',
      [garden, { ...about, onlyIf: { question: 'garden', is: 1 } }],
      'questions[1].onlyIf.is must be true, false or an option',
    ],
    [
      'a misspelt field of a condition',
      [garden, { ...about, onlyIf: { question: 'garden', is: true, not: 1 } }],
      'questions[1].onlyIf.not is not a field.',
    ],
    [
      'a condition on a later question',
      [fence, garden],
      'questions[0].onlyIf.question must be the id of an earlier question; got "garden", which is that of questions[1].',
    ],
    ['a condition on itself', [{ ...fence, id: 'garden' }], 'got "garden", which is this question itself.'],
    ['a condition on nothing', [fence], 'questions[0].onlyIf.question must be the id of an earlier question; got "garden".'],
    [
      'a condition on a text',
      [about, { ...home, onlyIf: { question: 'about', is: 'x' } }],
      'questions[1].onlyIf.question must be a question of the type yes_no or choice; "about" is of the type text.',
    ],
    ['a condition on several choices', [pets, { ...home, onlyIf: { question: 'pets', is: 'cats' } }], '"pets" is of the type choices.'],
    [
      'a text for yes or no',
      [garden, { ...about, onlyIf: { question: 'garden', is: 'yes' } }],
      'questions[1].onlyIf.is must be true or false, as "garden" is of the type yes_no; got "yes".',
    ],
    [
      'an option that is none',
      [home, { ...about, onlyIf: { question: 'home', is: 'boat' } }],
      'questions[1].onlyIf.is must be one of "flat", "house", as "home" is of the type choice; got "boat".',
    ],
    [
      'more than 64 KiB',
      Array.from({ length: 12 }, (_, i) => ({
        ...home,
        id: `q${i}`,
        options: Array.from({ length: 30 }, (_, n) => `${'x'.repeat(198)}${n}`),
      })),
      'bytes as JSON; 65,536 are allowed.',
    ],
  ];
  test.each(wrong)('with %s is 400, names the place and changes nothing', async (_, questions, words) => {
    await put([about]);
    expect(await put(questions)).toMatchObject(errorResponse(400, 'invalid_body', words));
    expect((await get()).json).toEqual({ questions: [about] });
  });

  test('names five faults and counts the others', async () => {
    const { json } = await put(Array.from({ length: 8 }, () => fence));
    const { message } = json as unknown as { message: string };
    expect(message).toContain('questions[0].onlyIf.question must be');
    expect(message).toMatch(/ And \d+ more\.$/);
  });

  test.each([
    ['an array', '[]', 'The body must be'],
    ['a misspelt list', '{"question":[]}', 'question is not a field. Did you mean questions?'],
    ['a name that is no field', '{"questions":[],"__proto__":[]}', 'The body is not valid JSON'],
  ])('with %s as body is 400', async (_, raw, words) => {
    const response = await store.call('PUT', path(), { key: manager.key, raw, headers: { 'content-type': 'application/json' } });
    expect(response).toMatchObject({ status: 400, json: { message: expect.stringContaining(words) } });
  });

  test('leaves cached listings valid, and the shelter as it was', async () => {
    const before = await store.call('GET', `/v1/shelters/${id}`, { key: reader.key });
    await put(all);
    expect(await store.call('GET', `/v1/shelters/${id}`, { key: reader.key })).toMatchObject({ text: before.text });
    expect(await store.read('select xmin::text from shelters where id = $1 and updated_at > created_at', id)).toEqual([]);
  });
});
