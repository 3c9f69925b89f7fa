import { describe, expect, test } from 'vitest';
import { controls, findCharacter, printable, printableJson, reorderings } from '../../src/platform/characters.ts';

describe('printable', () => {
  test.each([
    ['an ordinary name', 'Zoë’s 犬 – “A–Z” 🐕', 'Zoë’s 犬 – “A–Z” 🐕'],
    ['ESC', '\u001b]0;title\u0007', '\\u{1b}]0;title\\u{7}'],
    ['a line feed', 'a\nb', 'a\\u{a}b'],
    ['a control of C1', '\u009b2J', '\\u{9b}2J'],
    ['DEL', 'a\u007f', 'a\\u{7f}'],
    ['an override', 'a\u202eb', 'a\\u{202e}b'],
    ['a mark', 'a\u200fb', 'a\\u{200f}b'],
    ['a line separator', 'a\u2028b', 'a\\u{2028}b'],
    ['a lone surrogate', 'a\ud800b', 'a\\u{d800}b'],
  ])('shows %s', (_, text, shown) => {
    expect(printable(text)).toBe(shown);
  });
});

test('printableJson is the same value, without characters that a terminal acts on', () => {
  const value = { text: Array.from({ length: 0x2070 }, (_, code) => String.fromCharCode(code)).join('') };
  const json = printableJson(JSON.stringify(value));
  expect(JSON.parse(json)).toEqual(value);
  expect(findCharacter(json, controls + reorderings)).toBeUndefined();
});
