import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { roundsOf } from '../../../../testkit/rounds.ts';
import { type Answer, GivenAnswersSchema, type Question } from '../../../src/adoption/questions/question-schemas.ts';
import { checkAnswers } from '../../../src/adoption/questions/questions.ts';
import { controls, findCharacter, reorderings } from '../../../src/platform/characters.ts';
import { AppError } from '../../../src/platform/errors.ts';
import { parseJsonBody } from '../../../src/platform/http/json-body.ts';
import { createValidatorCompiler } from '../../../src/platform/http/schema-compilers.ts';

const garden: Question = { id: 'garden', text: 'A garden?', type: 'yes_no', required: true };
const fence: Question = { id: 'fence', text: 'A fence?', type: 'line', required: true, onlyIf: { question: 'garden', is: true } };
const home: Question = { id: 'home', text: 'Where?', type: 'choice', options: ['flat', 'house'], required: false };
const floor: Question = { id: 'floor', text: 'Which floor?', type: 'line', required: true, onlyIf: { question: 'home', is: 'flat' } };
const about: Question = { id: 'about', text: 'Who are you?', type: 'text', required: false };
const pets: Question = { id: 'pets', text: 'Which?', type: 'choices', options: ['cats', 'dogs', 'others'], required: false };
const lift: Question = { id: 'lift', text: 'A lift?', type: 'yes_no', required: true, onlyIf: { question: 'garden', is: false } };
const far: Question = { id: 'far', text: 'Is it far?', type: 'line', required: true, onlyIf: { question: 'lift', is: false } };
const all = [garden, fence, home, floor, about, pets, lift, far];

/** By id, as stored. */
const answered = (questions: readonly Question[], given: Record<string, unknown>) =>
  Object.fromEntries(checkAnswers(questions, given).map(({ question, answer }) => [question, answer]));

function messageOf(questions: readonly Question[], given: Record<string, unknown> | undefined): string {
  try {
    checkAnswers(questions, given);
  } catch (error) {
    if (error instanceof AppError && error.code === 'invalid_body') return error.message;
    throw error;
  }
  throw new Error('the answers were accepted');
}

describe('checkAnswers', () => {
  test('returns the answers with the texts of their questions, in the order of the questions', () => {
    const given = { pets: ['dogs', 'cats'], about: 'We walk a lot.\nEvery day.', home: 'house', fence: '2 m', garden: true };
    expect(checkAnswers(all, given)).toEqual([
      { question: 'garden', text: 'A garden?', answer: true },
      { question: 'fence', text: 'A fence?', answer: '2 m' },
      { question: 'home', text: 'Where?', answer: 'house' },
      { question: 'about', text: 'Who are you?', answer: 'We walk a lot.\nEvery day.' },
      { question: 'pets', text: 'Which?', answer: ['dogs', 'cats'] },
    ]);
  });

  test('of more than 64 KiB in all is rejected, since they are stored', () => {
    const many = Array.from({ length: 40 }, (_, i): Question => ({ ...about, id: `q${i}` }));
    const given = Object.fromEntries(many.map(({ id }) => [id, '🐕'.repeat(1_000)]));
    expect(messageOf(many, given)).toMatch(
      /^answers together take 16\d,\d{3} bytes with their questions; at most 65,536 are stored\. Shorten them\.$/,
    );
    expect(checkAnswers(many.slice(0, 15), Object.fromEntries(Object.entries(given).slice(0, 15)))).toHaveLength(15);
  });

  test('of no questions and no answers is empty', () => {
    expect([checkAnswers([], undefined), checkAnswers([], {}), checkAnswers([home, about], undefined)]).toEqual([[], [], []]);
  });

  test.each(['', ' \n', []])('takes %j as no answer, so an optional question is not stored', (empty) => {
    expect(answered(all, { garden: false, lift: true, home: empty, about: empty, pets: empty, fence: empty })).toEqual({
      garden: false,
      lift: true,
    });
  });

  test.each([undefined, {}, { garden: '' }, { garden: [] }])('without an answer to a required question (%j) is rejected', (given) => {
    expect(messageOf([garden], given)).toBe('answers.garden is required. The question is "A garden?".');
  });

  test('a question is required only if it is asked; what depends on one that is not asked is not asked either', () => {
    expect(answered(all, { garden: true, fence: 'yes' })).toEqual({ garden: true, fence: 'yes' });
    expect(answered(all, { garden: false, lift: false, far: 'no' })).toEqual({ garden: false, lift: false, far: 'no' });
    expect(messageOf(all, { garden: true })).toBe('answers.fence is required. The question is "A fence?".');
    expect(messageOf(all, { garden: false, lift: false })).toBe('answers.far is required. The question is "Is it far?".');
  });

  test('an answer to a question that is not asked is rejected, so that it is not lost in silence', () => {
    const words = 'answers.fence is only asked if answers.garden is true. Leave it out, or change the other answer.';
    expect(messageOf([garden, fence], { garden: false, fence: '2 m' })).toBe(words);
    expect(messageOf([home, floor], { home: 'house', floor: '3' })).toContain('answers.floor is only asked if answers.home is "flat".');
    expect(messageOf([home, floor], { floor: '3' })).toContain('answers.floor is only asked if');
  });

  test('of what depends on a wrong answer nothing is said', () => {
    expect(messageOf(all, { garden: 'yes', fence: '2 m', lift: false })).toBe('answers.garden must be true or false; got "yes".');
    expect(messageOf([garden, lift, far], {})).toBe('answers.garden is required. The question is "A garden?".');
  });

  test.each<readonly [string, Question, unknown]>([
    ['answers.about must be a text of several lines of at most 2,000 characters', about, true],
    ['answers.about must be a text of several lines of at most 2,000 characters', about, 'x'.repeat(2_001)],
    ['It contains U+000D.', about, 'a\rb'],
    ['It contains U+0000.', about, 'a\u0000b'],
    ['It contains U+D800.', about, 'a\ud800b'],
    ['It contains U+202E.', about, 'a\u202eb'],
    ['answers.about must be one line of text of at most 200 characters', { ...about, type: 'line' }, 'a\nb'],
    ['answers.about must be one line of text of at most 200 characters', { ...about, type: 'line' }, 'x'.repeat(201)],
    ['got ["x"].', { ...about, type: 'line' }, ['x']],
    ['answers.garden must be true or false; got "true".', garden, 'true'],
    ['answers.garden must be true or false; got 1.', garden, 1],
    ['answers.garden must be true or false; got null.', garden, null],
    ['answers.home must be one of "flat", "house"; got "boat".', home, 'boat'],
    ['answers.home must be one of "flat", "house"; got ["flat"].', home, ['flat']],
    ['answers.pets must be an array of different options: of "cats", "dogs", "others"; got "cats".', pets, 'cats'],
    ['answers.pets must be an array of different options', pets, ['cats', 'cats']],
    ['answers.pets must be an array of different options', pets, ['cats', 'birds']],
    ['answers.pets must be an array of different options', pets, [['cats']]],
  ])('rejects what is no answer to the question: %s', (words, question, value) => {
    expect(messageOf([question], { [question.id]: value })).toContain(words);
  });

  test('shows an integer that is beyond a double as it was sent', () => {
    const { garden: given } = parseJsonBody(Buffer.from('{"garden":12345678901234567890}')) as { garden: unknown };
    expect(messageOf([garden], { garden: given })).toBe('answers.garden must be true or false; got 12345678901234567890.');
  });

  test('counts characters, and a line break of a form as one', () => {
    expect(answered([about], { about: '😀'.repeat(2_000) })).toEqual({ about: '😀'.repeat(2_000) });
    expect(answered([about], { about: `${'x\r\n'.repeat(1_000)}` })).toEqual({ about: 'x\n'.repeat(1_000) });
  });

  test('an answer to an unknown question is rejected, with the ids of those that there are', () => {
    expect(messageOf(all, { garden: true, fence: 'x', gardn: true })).toBe(
      'answers.gardn is not a question of this shelter. It asks garden, fence, home, floor, about, pets, lift, far.',
    );
    expect(messageOf([], { why: 'x' })).toBe('answers.why is not a question of this shelter. It asks nothing.');
  });

  test('names five faults and counts the others', () => {
    const unknown = Object.fromEntries(Array.from({ length: 8 }, (_, i) => [`q${i}`, 'x']));
    expect(messageOf([], unknown)).toMatch(
      /^answers\.q0 .* answers\.q4 is not a question of this shelter\. It asks nothing\. And 3 more\.$/,
    );
  });

  test.each(['toString', 'constructor', 'hasOwnProperty', 'valueOf'])('a question named %s of a prototype is not answered by it', (id) => {
    // Ids have no capital letters, so only `constructor` can exist. All are tried.
    expect(messageOf([{ ...about, id, required: true }], {})).toContain(`answers.${id} is required.`);
    expect(answered([{ ...about, id }], { [id]: 'x' })).toEqual({ [id]: 'x' });
    expect(messageOf([], { [id]: 'x' })).toContain(`answers.${id} is not a question`);
  });
});

describe('Hostile answers', () => {
  const validate = createValidatorCompiler([])({
    schema: { type: 'object', properties: { answers: GivenAnswersSchema } },
    httpPart: 'body',
    method: '',
    url: '',
  }) as (body: unknown) => { error?: Error };
  const hostile = fc.constantFrom(
    '__proto__',
    'constructor',
    'prototype',
    'toString',
    'length',
    '0',
    '',
    'garden',
    '\u0000',
    'a\u202e',
    'x'.repeat(41),
  );
  const optional = all.map((question) => ({ ...question, required: false }));
  const right = fc.constantFrom<[string, unknown]>(
    ['garden', true],
    ['home', 'house'],
    ['pets', ['cats']],
    ['about', 'Us.'],
    ['fence', '2 m'],
  );
  const ids = fc.constantFrom(...all.map(({ id }) => id));
  const key = fc.oneof({ weight: 8, arbitrary: ids }, hostile, fc.string({ unit: 'binary', maxLength: 50 }));
  const value = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 50 }),
    fc.constantFrom('flat', 'cats', true, false, null, 0, Number.NaN, 2 ** 60),
    fc.array(fc.constantFrom('cats', 'dogs', ''), { maxLength: 4 }),
    fc.jsonValue(),
  );

  /** Reads, validates and checks the answers of a body, as a route does. */
  function outcomeOf(
    text: string,
    questions: readonly Question[],
  ): { stored: readonly Answer[]; sent: Record<string, unknown> } | AppError {
    try {
      const body = parseJsonBody(Buffer.from(text)) as { answers: Record<string, unknown> };
      const { error } = validate(body);
      if (error) throw error;
      return { stored: checkAnswers(questions, body.answers), sent: body.answers };
    } catch (error) {
      if (error instanceof AppError) return error;
      throw error;
    }
  }

  test('are either stored as they are, each to its question, or rejected as invalid_body or invalid_json', () => {
    let stored = 0;
    const isRight = (text: string, questions: readonly Question[]): boolean => {
      const outcome = outcomeOf(text, questions);
      if (outcome instanceof AppError) {
        const { code, message } = outcome;
        return /^invalid_(body|json)$/.test(code) && message.length < 2_000 && findCharacter(message, controls + reorderings) === undefined;
      }
      stored += outcome.stored.length;
      return outcome.stored.every((one) => {
        const question = questions.find(({ id }) => id === one.question);
        return isDeepStrictEqual(one, { question: question?.id, text: question?.text, answer: outcome.sent[one.question] });
      });
    };
    const entries = fc.array(fc.oneof(right, fc.tuple(key, value)), { maxLength: 4 });
    const property = fc.property(entries, fc.constantFrom(all, optional), (given, questions) => {
      // As text, since an object of JavaScript can't be written with these names.
      const pairs = given.map(([name, one]) => `${JSON.stringify(name)}:${JSON.stringify(one)}`);
      return isRight(`{"answers":{${pairs.join()}}}`, questions);
    });
    fc.assert(property, { numRuns: roundsOf(500, 2_000) });
    expect(stored).toBeGreaterThan(50);
    expect(Object.keys(Object.prototype)).toEqual([]);
  });

  test.each([
    ['41 answers', Object.fromEntries(Array.from({ length: 41 }, (_, i) => [`q${i}`, true])), 'answers must be an object of at most 40'],
    ['a name of a megabyte', { ['x'.repeat(1e6)]: true }, 'answers must be an object of at most 40 answers, by the ids of their questions'],
    ['a number', { garden: 1 }, 'answers.garden must be a string of at most 2,000 characters, true, false, or a list of at most 30'],
    ['a long text', { garden: 'x'.repeat(2_001) }, 'answers.garden must be a string of at most 2,000 characters'],
    ['31 choices', { garden: Array.from({ length: 31 }, String) }, 'answers.garden must be a string of at most 2,000 characters'],
    ['a list', ['x'], 'answers must be an object of at most 40'],
  ])('with %s are rejected by the schema in few words', (_, answers, words) => {
    const { error } = validate({ answers });
    expect(error?.message).toContain(words);
    expect(error?.message.length).toBeLessThan(400);
  });
});
