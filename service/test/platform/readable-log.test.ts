import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { readableLogLine } from '../../src/platform/log.ts';

const time = new Date(2026, 10, 15, 9, 5, 7).getTime();
const shown = (fields: object, sinceMs?: number) => {
  const line = readableLogLine(`${JSON.stringify({ level: 30, time, pid: 1, hostname: 'h', ...fields })}\n`, sinceMs);
  return line === undefined ? undefined : stripVTControlCharacters(line);
};

test.each<[fields: object, line: string]>([
  [{ msg: 'request', status: 200, method: 'GET', url: '/v1/pets', ms: 3.2 }, '09:05:07  200    GET /v1/pets  3.2 ms'],
  [
    { msg: 'request', status: 404, code: 'pet_not_found', method: 'GET', url: '/v1/pets/9', ms: 3.2 },
    '09:05:07  404    GET /v1/pets/9  pet_not_found  3.2 ms',
  ],
  [{ msg: 'draining', signal: 'SIGINT' }, '09:05:07  info   draining signal="SIGINT"'],
  [{ msg: 'closed' }, '09:05:07  info   closed'],
  [{ level: 40, msg: 'Redis lost' }, '09:05:07  warn   Redis lost'],
  [{ level: 50, msg: 'job failed', err: { stack: 'Error: x\n    at y' } }, '09:05:07  error  job failed\nError: x\n    at y'],
])('%j', (fields, line) => {
  expect(shown(fields)).toBe(line);
});

test('a line that is not JSON stays, and one from before is left out', () => {
  expect(readableLogLine('Segmentation fault')).toBe('Segmentation fault');
  expect(shown({ msg: 'closed' }, time + 1)).toBeUndefined();
});

test('control characters of a caller do not reach the terminal', () => {
  const hostile = '\u001b[2J\u009b31m\u202e\r\n';
  const escaped = '\\u{1b}[2J\\u{9b}31m\\u{202e}\\u{d}\\u{a}';
  expect(readableLogLine(JSON.stringify({ time, msg: hostile }))).toContain(escaped);
  expect(readableLogLine(JSON.stringify({ time, msg: 'request', method: 'GET', url: `/${hostile}` }))).toContain(`GET /${escaped}`);
  expect(readableLogLine(JSON.stringify({ time, msg: 'x', agent: '\u009b31m' }))).toContain('agent="\\u{9b}31m"');
  expect(readableLogLine(JSON.stringify({ time, msg: 'x', err: { stack: 'a\u001b[2J\nb' } }))).toContain('a\\u{1b}[2J\nb');
  expect(readableLogLine('\u001b[2J')).toBe('\\u{1b}[2J');
});
