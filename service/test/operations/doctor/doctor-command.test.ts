// What `homeward doctor` prints, watches and returns, on a terminal and elsewhere.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { freePort } from '../../../../testkit/servers.ts';
import type { Finding } from '../../../src/operations/doctor/finding.ts';
import { homeward } from '../../cli/homeward-command.ts';
import { homewardOnPseudoTerminal } from '../../cli/on-terminal.ts';
import { cloneTemplate, createDatabase, executeAsOwner } from '../../databases.ts';

const nowhere = { DATABASE_URL: 'postgres://ada:sesame@127.0.0.1:1/homeward', REDIS_URL: 'redis://:sesame@127.0.0.1:1', PORT: '0' };
const esc = String.fromCharCode(0x1b);
const folder = mkdtempSync(path.join(tmpdir(), 'homeward-doctor-'));

const migrated: Record<string, string> = {
  DATABASE_URL: await cloneTemplate(inject('postgresUrl')),
  REDIS_URL: inject('redisUrl'),
  PORT: '0',
};
afterAll(() => rmSync(folder, { recursive: true }));

test('in a pipe each finding is one line, the worst first, without colours', async () => {
  const { status, stdout, stderr } = await homeward(['doctor'], { env: nowhere });
  const lines = stdout.trimEnd().split('\n');
  expect({ status, stderr }).toEqual({ status: 1, stderr: '' });
  expect(lines[0]).toBe(
    'broken   postgres              PostgreSQL at 127.0.0.1:1, database "homeward": nothing is listening there. Fix: Is DATABASE_URL correct, and is PostgreSQL running?',
  );
  expect(lines[1]).toMatch(/^broken {3}redis {17}Redis at 127\.0\.0\.1:1: nothing is listening there\. Fix: Start Redis/);
  expect(lines.every((line) => /^(broken|note|skipped|ok) +[a-z-]+ +\S/.test(line))).toBe(true);
  expect(stdout).not.toMatch(new RegExp(`${esc}|sesame`));
});

test('on a terminal lines fit its width, with marks, and the counts at the end', async () => {
  const { status, text, output } = await homewardOnPseudoTerminal(['doctor'], { env: nowhere, columns: 70 });
  const lines = text.trimEnd().split('\n');
  expect(status).toBe(1);
  expect(lines[0]).toMatch(/^✗ postgres +PostgreSQL at 127\.0\.0\.1:1/);
  expect(text).toContain('→ Is DATABASE_URL correct');
  expect(lines.at(-1)).toMatch(/^2 broken, 1 note, \d+ not checked, \d+ ok$/);
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(70);
  expect(output).toContain(`${esc}[31m✗`);
});

test('an empty database is a missing migration, and nothing else', async () => {
  const url = await createDatabase(inject('postgresUrl'), { name: `doctor_${process.pid}_${Date.now()}` });
  const [first, second] = await findingsOf(['doctor'], { ...migrated, DATABASE_URL: url });
  expect(first).toEqual({
    check: 'postgres-migrations',
    severity: 'broken',
    found: 'The database is empty.',
    fix: "Run 'homeward migrate'.",
  });
  expect(second?.severity).not.toBe('broken');
});

test('a store without a worker is broken, and its feed is not checked', async () => {
  // Only the tests have this default.
  await executeAsOwner(migrated['DATABASE_URL'] ?? '', 'alter table webhooks alter column verified_at drop default');
  const findings = await findingsOf(['doctor'], migrated);
  expect(findings[0]).toMatchObject({ check: 'worker', severity: 'broken', fix: "Start 'homeward worker'." });
  expect(findings.find(({ check }) => check === 'feed')?.severity).toBe('skipped');
});

test('a password that is not percent-encoded is not printed', async () => {
  const { stdout } = await homeward(['doctor'], { env: { ...nowhere, DATABASE_URL: 'postgres://ada:open/sesame@127.0.0.1:1/homeward' } });
  expect(stdout.split('\n')[0]).toMatch(/^broken +postgres +PostgreSQL at the address in DATABASE_URL can't be reached.+write "@" as %40/);
  expect(stdout).not.toContain('sesame');
});

test('an invalid variable is the first finding, the others are not checked, and the exit status is 2', async () => {
  const { status, stdout } = await homeward(['doctor', '--json'], { env: { ...nowhere, HOMEWARD_POOL_SIZE: 'many' } });
  const { findings } = JSON.parse(stdout) as { findings: Finding[] };
  expect(status).toBe(2);
  expect(findings[0]).toMatchObject({
    check: 'configuration',
    severity: 'broken',
    found: expect.stringContaining('HOMEWARD_POOL_SIZE must be'),
  });
  expect(findings.slice(1).every(({ severity }) => severity === 'skipped')).toBe(true);
});

test.each([
  [['doctor', '--watch'], '--watch needs a terminal. Elsewhere, add --json for a line each round.'],
  [['doctor', '--url', 'http://example.org'], '--url must be an https: URL without a user, such as https://api.example.org.'],
  [['doctor', '--url', 'https://ada:sesame@example.org'], '--url must be an https: URL without a user, such as https://api.example.org.'],
])('homeward %j is a mistake', async (args, message) => {
  expect(await homeward(args, { env: nowhere })).toEqual({ status: 2, stdout: '', stderr: `homeward: ${message}\n` });
});

test('--watch draws again until Ctrl-C, and leaves the terminal as it was', async () => {
  const typed = [
    { after: '2 broken', keys: '' },
    { after: '2 broken', keys: '\u0003' },
  ];
  const { status, output } = await homewardOnPseudoTerminal(['doctor', '--watch'], { env: nowhere, typed });
  expect(status).toBe(0);
  expect(output.startsWith(`${esc}[?1049h${esc}[?25l`)).toBe(true);
  expect(output.trimEnd().endsWith(`${esc}[?25h${esc}[?1049l`)).toBe(true);
  expect(output.match(/homeward doctor: 2 broken/g)?.length).toBeGreaterThanOrEqual(2);
  // 24 rows, of which the last are left out.
  expect(output).toMatch(/… and \d+ more lines/);
});

test('--watch --json prints one object a line, and ends when nobody reads', async () => {
  const { output } = await homewardOnPseudoTerminal([], {
    env: nowhere,
    shellCommand: `sh -c "'${process.execPath}' '${path.resolve('service/bin/homeward.mjs')}' doctor --watch --json | head -n 2"`,
    columns: 10_000,
  });
  const rounds = output.trim().split('\r\n');
  expect(rounds.map((line) => (JSON.parse(line) as { status: string }).status)).toEqual(['broken', 'broken']);
});

describe('--url', () => {
  let server: Server;
  let url: string;
  let status = 401;
  const authority = path.join(folder, 'certificate.pem');

  beforeAll(async () => {
    makeCertificate(365);
    server = createServer(readCertificate(), (_, response) => response.writeHead(status).end('{}'));
    const port = await freePort();
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    url = `https://localhost:${port}`;
  });
  afterAll(() => server.close());

  const makeCertificate = (days: number) =>
    execFileSync(
      'openssl',
      ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', String(days)].concat(
        ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'],
        ['-keyout', path.join(folder, 'key.pem'), '-out', authority],
      ),
      { stdio: 'ignore' },
    );
  const readCertificate = () => ({ key: readFileSync(path.join(folder, 'key.pem')), cert: readFileSync(authority) });
  const judged = async (more: Record<string, string>, checked = url, name = 'url') => {
    const found = (await findingsOf(['doctor', '--url', checked], { ...nowhere, ...more })).findLast(({ check }) => check === name);
    return `${found?.severity}: ${found?.found}`;
  };
  const trusted = { NODE_EXTRA_CA_CERTS: authority };

  test('a trusted certificate and an API behind it are ok', async () => {
    expect(await judged(trusted)).toMatch(
      /^ok: The certificate of localhost is valid for 36[45] days, until \S+\. The API responds there\.$/,
    );
  });

  test('the console is looked at from outside too', async () => {
    const more = { ...trusted, HOMEWARD_CONSOLE_URL: url, HOMEWARD_CONSOLE_PORT: '0' };
    const { found } = (await findingsOf(['doctor', '--url', url], { ...nowhere, ...more })).find(({ check }) => check === 'console') ?? {};
    expect(found).toMatch(/\/sign-in is 401, and should be 200\.$/);
    status = 200;
    expect(await judged(more, url, 'console')).toMatch(/^ok: The certificate of localhost is valid .+ The console responds there\.$/);
    status = 401;
  });

  test('a certificate that nobody trusts is broken', async () => {
    expect(await judged({})).toMatch(/^broken: The certificate of localhost is not valid: .*DEPTH_ZERO_SELF_SIGNED_CERT/);
  });

  test('a certificate of another name is broken', async () => {
    expect(await judged(trusted, url.replace('localhost', '127.0.0.1'))).toMatch(/^broken: The certificate of 127\.0\.0\.1 is not valid: /);
  });

  test('something else behind the load balancer is broken', async () => {
    status = 502;
    expect(await judged(trusted)).toMatch(/^broken: \S+\/v1\/pets without a key is 502, and should be 401\.$/);
    status = 401;
  });

  test('a certificate that ends soon is a warning', async () => {
    makeCertificate(5);
    server.setSecureContext(readCertificate());
    expect(await judged(trusted)).toMatch(/^warning: The certificate of localhost is valid for [45] days/);
  });

  test('nothing there, and no such name, are broken', async () => {
    expect(await judged({}, 'https://localhost:1')).toMatch(/^broken: localhost:1 can't be reached \(ECONNREFUSED\)/);
    expect(await judged({}, 'https://nowhere.invalid')).toBe('broken: The name nowhere.invalid was not found.');
  });
});

async function findingsOf(args: string[], env: Record<string, string>): Promise<Finding[]> {
  const { stdout } = await homeward([...args, '--json'], { env });
  return (JSON.parse(stdout) as { findings: Finding[] }).findings;
}
