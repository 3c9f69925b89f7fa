import { expect, inject, test } from 'vitest';
import { cloneTemplate } from '../databases.ts';
import { homewardOnPseudoTerminal } from './on-terminal.ts';

const env: Record<string, string> = {
  DATABASE_URL: await cloneTemplate(inject('postgresUrl')),
  REDIS_URL: inject('redisUrl'),
  PORT: '0',
  HOMEWARD_DRAIN_MS: '0',
};

test('serve on a terminal says where it is and logs lines for people, until Ctrl-C', async () => {
  const { status, text } = await homewardOnPseudoTerminal(['serve'], { env, typed: [{ after: '/docs', keys: '\u0003' }] });
  const [, port] = /API {3}http:\/\/127\.0\.0\.1:(\d+)\/v1\n/.exec(text) ?? [];
  expect(text).toContain(`  Docs  http://127.0.0.1:${port}/docs\n`);
  expect(text).toMatch(/^\d\d:\d\d:\d\d {2}info {3}Server listening at http/m);
  expect(text).toMatch(/^\d\d:\d\d:\d\d {2}info {3}closed$/m);
  expect(text).not.toContain('{"');
  expect(status).toBe(0);
});

test('worker on a terminal logs lines for people', async () => {
  const { status, text } = await homewardOnPseudoTerminal(['worker'], { env, typed: [{ after: 'working', keys: '\u0003' }] });
  expect(text).toMatch(/^\d\d:\d\d:\d\d {2}info {3}working$/m);
  expect(text).not.toContain('{"');
  expect(status).toBe(0);
});
