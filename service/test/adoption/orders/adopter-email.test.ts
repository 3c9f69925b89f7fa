import { describe, expect, test } from 'vitest';
import { NewAdopterSchema } from '../../../src/adoption/orders/order-schemas.ts';

const pattern = new RegExp((NewAdopterSchema.properties.email as { pattern?: string }).pattern ?? '', 'u');

describe("an adopter's e-mail address", () => {
  test.each([
    'ada@example.org',
    'Ada.Lovelace+dogs@mail.example.co.uk',
    "o'brien@example.ie",
    'a@b.io',
    '{odd}|but=legal?^_`~!#$%&*/@example.org',
    '1@1.museum',
    'a@xn--bcher-kva.example',
    'grüße@bücher.example',
    '用户@例子.广告',
    'उपयोगकर्ता@उदाहरण.भारत',
    'a@a--b.c-1.xn--p1ai',
    `${'l'.repeat(64)}@example.org`,
  ])('%s is accepted', (email) => {
    expect(pattern.test(email)).toBe(true);
  });

  test.each([
    ['no @', 'ada'],
    ['nothing before the @', '@example.org'],
    ['nothing after the @', 'ada@'],
    ['two @', 'a@b@example.org'],
    ['a domain without a top level', 'x@x'],
    ['a host of this machine', 'ada@localhost'],
    ['a top level of one letter', 'ada@example.o'],
    ['a top level of digits', 'ada@example.123'],
    ['an address of IPv4', 'ada@192.0.2.1'],
    ['a literal address', 'ada@[192.0.2.1]'],
    ['a top level that begins with a digit', 'ada@example.1org'],
    ['a dot at the end', 'ada@example.org.'],
    ['two dots in the domain', 'ada@example..org'],
    ['a dot at the beginning of the domain', 'ada@.example.org'],
    ['a label that begins with a hyphen', 'ada@-example.org'],
    ['a label that ends with a hyphen', 'ada@example-.org'],
    ['an underscore in the domain', 'ada@exa_mple.org'],
    ['a dot first', '.ada@example.org'],
    ['a dot last', 'ada.@example.org'],
    ['two dots', 'ada..lovelace@example.org'],
    ['65 characters before the @', `${'l'.repeat(65)}@example.org`],
    ['a blank', 'ada lovelace@example.org'],
    ['a quoted local part', '"ada"@example.org'],
    ['a name around it', 'Ada <ada@example.org>'],
    ['two addresses', 'ada@example.org,bob@example.org'],
    ['a list by semicolon', 'ada@example.org;bob@example.org'],
    ['a line feed and a header', 'ada@example.org\nBcc: bob@example.org'],
    ['NUL', 'ada\0@example.org'],
    ['ESC', 'ada\u001b[2J@example.org'],
    ['a control of C1', 'ada\u009b@example.org'],
    ['an override', 'ada\u202e@example.org'],
    ['an isolate in the domain', 'ada@\u2066example.org'],
    ['a blank of no width', 'a\u200bda@example.org'],
    ['a lone surrogate', 'ada\ud800@example.org'],
  ])('with %s is rejected', (_, email) => {
    expect(pattern.test(email)).toBe(false);
  });

  // The schema rejects more than 254 characters before it checks the pattern. Ten times as many show that the time is linear in
  // the length: if it were exponential or quadratic, 2,540 characters would take minutes or many milliseconds.
  test.each([254, 2_540])('of %i characters, crafted to be slow, is rejected within 5 ms', (length) => {
    const fill = (text: string) => text.repeat(length).slice(0, length);
    const adversarial = [
      fill('a'),
      fill('a.'),
      fill('.'),
      `a@${fill('a')}`,
      `a@${fill('a.')}`,
      `a@${fill('a-')}`,
      `a@${fill('-')}`,
      `a@a${fill('-')}`,
      `a@${fill('aa.')}1.`,
      `a@${fill('a-a.')}!`,
      `a@${fill('a')}.a`,
      `${fill('a.').slice(0, 63)}@${fill('a-')}.`,
    ];
    for (const email of adversarial) {
      // The best of five, since a busy machine may pause any of them.
      const timesMs = Array.from({ length: 5 }, () => {
        const startMs = performance.now();
        expect({ start: email.slice(0, 20), accepted: pattern.test(email) }).toMatchObject({ accepted: false });
        return performance.now() - startMs;
      });
      expect({ start: email.slice(0, 20), isFast: Math.min(...timesMs) < 5 }).toMatchObject({ isFast: true });
    }
  });
});
