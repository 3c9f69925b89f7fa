import { describe, expect, test } from 'vitest';
import { AppError } from '../../../src/platform/errors.ts';
import { parseJsonBody } from '../../../src/platform/http/json-body.ts';

function messageOf(text: string): string {
  try {
    parseJsonBody(Buffer.from(text));
  } catch (error) {
    if (error instanceof AppError) return error.message;
  }
  throw new Error('it is valid');
}
const long = `"${'x'.repeat(100)}"`;

describe('The advice on JSON', () => {
  test.each([
    ['single quotes', "{'name':'Biscuit'}", 'in double quotes (")'],
    ['a text in single quotes', `{"a":${long},"name":'Biscuit',"b":${long}}`, 'in double quotes (")'],
    ['quotes of a word processor', '{“name”:"Biscuit"}', 'in double quotes (")'],
    ['a comma at the end', '{"name":"Biscuit",}', 'Remove the comma'],
    ['a comma at the end of a list', `{"types":["pet.created",],"b":${long}}`, 'Remove the comma'],
    ['names without quotes', '{name: "Biscuit"}', 'Put names in double quotes.'],
    ['no quotes at all', '{name:Biscuit}', 'Put names in double quotes.'],
    ['a text without quotes', '{"name":Biscuit}', 'Put texts in double quotes.'],
    ['a value of Python', '{"mixed":True}', 'true, false and null, in lower case'],
    ['a comment', '{"name":"Biscuit" // the dog\n}', 'JSON has no comments.'],
    ['a missing comma', '{"name":"Biscuit" "categoryId":1}', 'A comma is missing'],
    ['no end', '{"name":"Biscuit"', 'a quote or a bracket is missing at its end'],
    ['an open text', '{"name":"Biscuit', 'a quote or a bracket is missing at its end'],
    ['a form', 'name=Biscuit&categoryId=1', 'It is the data of a form.'],
    ['XML', '<pet/>', 'It is a form or XML.'],
    ['two objects', '{"name":"A"}\n{"name":"B"}', 'Send one object, and nothing after it.'],
    ['a line break in a text', '{"name":"A\nB"}', String.raw`Write a line break in a text as \n.`],
  ])('with %s says how to correct it', (_, text, advice) => {
    expect(messageOf(text)).toMatch(/^The body is not valid JSON: /);
    expect(messageOf(text)).toContain(advice);
  });

  test('is missing where the fault is another one', () => {
    expect(messageOf('{"a":01}')).toMatch(/^The body is not valid JSON: [^.]+\.$/);
  });

  test('of a megabyte that repeats its fault takes no longer than to read it', () => {
    const text = `{"a":[${"'x',".repeat(200_000)}]}`;
    expect(messageOf(text)).toContain('double quotes');
  });
});
