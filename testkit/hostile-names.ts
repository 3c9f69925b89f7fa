// Names and subjects of strangers that try to add a header, a recipient or a second message, or to look like another address.
import PostalMime from 'postal-mime';
import type { ReceivedMail } from './mail-server.ts';

const payloads = [
  'Bcc: evil@example.org',
  'To: evil@example.org',
  'X-Evil: 1',
  'Content-Type: text/html',
  'Reply-To: evil@example.org',
  'RCPT TO:<evil@example.org>',
  '<evil@example.org>',
  'evil@example.org',
  '"evil@example.org"',
  'evil@example.org (comment)',
];
const breaks = [
  '\r\n',
  '\n',
  '\r',
  '\n\n',
  '\r\n\r\n',
  '\r\n.\r\n',
  '\r\n ',
  '\r\n\t',
  '\u2028',
  '\u2029',
  '\u0085',
  '\u000b',
  '\u000c',
  '\0',
  '\u001e',
  '%0d%0a',
  '\\r\\n',
  '\u560d\u560a',
];
const separators = [',', ';', ':', ', ', ' ; ', '>,<', '>, ', '",', '\\",', '),(', ' <', '>;', '@', ',,'];
const encoded = (text: string) => [
  `=?utf-8?B?${Buffer.from(text).toString('base64')}?=`,
  `=?utf-8?Q?${[...Buffer.from(text)].map((byte) => `=${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('')}?=`,
  `=?iso-8859-1?q?${text.replaceAll(' ', '_')}?=`,
];
const others = [
  '',
  ' ',
  '"',
  "'",
  '\\',
  '\\"',
  '()',
  '(',
  ')',
  '<>',
  '<',
  '>',
  ':;',
  'group: evil@example.org;',
  'undisclosed-recipients:;',
  'Ada\u202eevil',
  '\u2066Ada\u2069',
  'Ada\ufeffLovelace',
  '\ud800Ada',
  'Ada\udfff',
  'Ådå Løvelacé',
  '爱达',
  'آدا',
  '👩‍💻 Ada',
  '\u{e0041}\u{e0042}',
  'Ada＜evil@example.org＞',
  'Ada\uff0cevil@example.org',
  'A'.repeat(1_000),
  '😀'.repeat(500),
  'word '.repeat(300),
  '.',
  '..',
  '\r\n.',
  '\r\nQUIT\r\n',
  '\r\nDATA\r\n',
];

/** 500 of them, all different. */
export const hostileNames: readonly string[] = [
  ...new Set([
    ...others,
    ...payloads,
    ...payloads.flatMap((payload) => breaks.map((one) => `Ada${one}${payload}`)),
    ...payloads.flatMap((payload) => separators.map((one) => `Ada${one}${payload}`)),
    ...payloads.flatMap(encoded),
    ...payloads.flatMap((payload) => encoded(`Ada\r\n${payload}`)),
    ...payloads.flatMap((payload) => breaks.slice(0, 9).map((one) => `${one}${payload}${one}`)),
  ]),
].slice(0, 500);

const breaking = /[\r\n\u2028\u2029\u202e]/;

/** What a message has that it should not, or lacks. `keys`: its headers; sorted. */
export async function faultsOfMail(
  { to, raw }: ReceivedMail,
  expected: { to: string; replyTo?: string; keys: readonly string[] },
): Promise<string[]> {
  const parsed = await PostalMime.parse(Buffer.from(raw, 'latin1'));
  const [head = ''] = raw.split('\r\n\r\n', 1);
  // Without folds each line is a header, and none has an unencoded byte.
  const lines = head.replace(/\r\n[ \t]/g, ' ').split('\r\n');
  const addresses = (list: ReadonlyArray<{ address?: string | undefined }> = []) => list.map(({ address }) => address).join();
  const checks = {
    recipients: to.join() === expected.to,
    headers: headerKeysOf(parsed.headers).join() === expected.keys.join(),
    to: addresses(parsed.to) === expected.to,
    'reply-to': addresses(parsed.replyTo) === (expected.replyTo ?? ''),
    copies: !parsed.cc && !parsed.bcc,
    lines: lines.every((line) => /^[A-Za-z-]+: [\t\x20-\x7e]*$/.test(line)),
    breaks: ![parsed.subject, parsed.to?.[0]?.name, parsed.replyTo?.[0]?.name].some((text) => text && breaking.test(text)),
  };
  return Object.entries(checks).flatMap(([name, isWell]) => (isWell ? [] : [name]));
}

export const headerKeysOf = (headers: ReadonlyArray<{ key: string }>): string[] => headers.map(({ key }) => key).toSorted();
