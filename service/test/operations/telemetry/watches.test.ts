// What a worker measures beside its jobs: backups, the certificate, PostgreSQL's archive.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createServer } from 'node:tls';
import pg from 'pg';
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { startPostgres } from '../../../../testkit/servers.ts';
import { readStoreFacts } from '../../../src/operations/telemetry/store-facts-queries.ts';
import { BackupWatch, CertificateWatch } from '../../../src/operations/telemetry/watches.ts';
import { migrate } from '../../../src/platform/db/migrate.ts';
import { Pool } from '../../../src/platform/db/pool.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'homeward-watches-'));
// PostgreSQL looks into it too, as another user.
chmodSync(folder, 0o755);
afterAll(() => rmSync(folder, { recursive: true }));

describe('The file with the time of the last backup', () => {
  const look = async (content?: string) => {
    const file = path.join(folder, 'last-backup');
    rmSync(file, { force: true });
    if (content !== undefined) writeFileSync(file, content);
    const watch = new BackupWatch(file);
    await watch.look();
    return watch.madeAtSeconds;
  };

  test('has the time that base-backup.sh writes', async () => {
    const line = /^date .*$/m.exec(readFileSync('deploy/backup/base-backup.sh', 'utf8'))?.[0] ?? '';
    execFileSync('sh', ['-c', line], { env: { ...process.env, stamp: path.join(folder, 'written') } });
    const watch = new BackupWatch(path.join(folder, 'written.new'));
    await watch.look();
    expect(Math.abs(Date.now() / 1_000 - (watch.madeAtSeconds ?? 0))).toBeLessThan(5);
  });

  test('is read to the second', async () => {
    expect(await look('2026-11-16T02:41:07Z\n')).toBe(Date.UTC(2026, 10, 16, 2, 41, 7) / 1_000);
  });

  test('that does not exist means that no backup was ever made', async () => {
    expect(await look()).toBe(0);
  });

  test.each(['', 'yesterday', 'x'.repeat(1_000_000)])('with something else is an error that names the file', async (content) => {
    await expect(look(content)).rejects.toThrow(/last-backup", the file in HOMEWARD_BACKUP_STAMP, must contain a time such as/);
  });
});

describe('The certificate of the API', () => {
  /** Serves a certificate for two days, by an authority that nobody trusts. */
  const serve = async () => {
    const [key, certificate] = [path.join(folder, 'key'), path.join(folder, 'certificate')];
    const subject = ['-subj', '/CN=elsewhere.example', '-days', '2', '-keyout', key, '-out', certificate];
    execFileSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', ...subject], {
      stdio: 'ignore',
    });
    const received: Buffer[] = [];
    const server = createServer({ key: readFileSync(key), cert: readFileSync(certificate) }, (socket) =>
      socket.on('data', (bytes) => received.push(bytes)).on('error', () => {}),
    );
    await once(server.listen(0, '127.0.0.1'), 'listening');
    onTestFinished(() => void server.close());
    return { port: (server.address() as AddressInfo).port, received };
  };

  test('is read without a request, also if it is of a private authority and for another name', async () => {
    const { port, received } = await serve();
    const watch = new CertificateWatch(`https://localhost:${port}`);
    await watch.look();
    expect((watch.expiresAtSeconds ?? 0) - Date.now() / 1_000).toBeGreaterThan(47.9 * 3_600);
    expect((watch.expiresAtSeconds ?? 0) - Date.now() / 1_000).toBeLessThan(48.1 * 3_600);
    expect(received).toEqual([]);
  });

  test('of a server that accepts and says nothing is an error, as soon as the worker ends', async () => {
    const silent = createTcpServer();
    await once(silent.listen(0, '127.0.0.1'), 'listening');
    onTestFinished(() => void silent.close());
    const watch = new CertificateWatch(`https://127.0.0.1:${(silent.address() as AddressInfo).port}`);
    await expect(watch.look(AbortSignal.timeout(200))).rejects.toThrow(/aborted due to timeout/);
    expect(watch.expiresAtSeconds).toBeUndefined();
  });

  test('stays known while the server is away', async () => {
    const { port } = await serve();
    const watch = new CertificateWatch(`https://127.0.0.1:${port}`);
    await watch.look();
    const { expiresAtSeconds } = watch;
    await expect(watch.look(AbortSignal.abort())).rejects.toThrow(/aborted/);
    expect(watch.expiresAtSeconds).toBe(expiresAtSeconds);
  });

  test.each(['', 'http://localhost:8080'])('is not looked for at "%s"', (url) => {
    expect(new CertificateWatch(url).isKnown).toBe(false);
  });
});

describe("PostgreSQL's archive", () => {
  test('is off, works, fails, hangs, and works again', async () => {
    await using stack = new AsyncDisposableStack();
    const blocker = path.join(folder, 'hang');
    const command = `sh -c 'while [ -e ${blocker} ]; do sleep 0.05; done'`;
    const settings = { archive_mode: 'on', archive_command: command };
    const postgres = stack.use(await startPostgres({ settings: { wal_level: 'replica', max_wal_senders: '2' } }));
    await migrate(postgres.url);
    const open = async () => {
      const client = new pg.Client({ connectionString: postgres.url });
      await client.connect();
      return client;
    };
    const before = await open();
    const db = stack.adopt(new Pool(postgres.url, 4), (pool) => pool.close());
    await db.connect();
    const read = async () => {
      const { facts, errors } = await readStoreFacts(db);
      expect(errors).toEqual([]);
      return facts.wal;
    };
    expect(await read()).toEqual({ timeline: 1, archive: undefined });

    for (const [name, value] of Object.entries(settings)) await before.query(`alter system set ${name} = ${pg.escapeLiteral(value)}`);
    await before.end();
    await postgres.signal('SIGINT');
    await postgres.start();
    const again = stack.adopt(await open(), (client) => client.end());
    const writeSegment = () =>
      again.query('create table if not exists filler (n int); insert into filler values (1); select pg_switch_wal()');
    const becomes = (archive: unknown) => vi.waitFor(async () => expect((await read())?.archive).toEqual(archive), { timeout: 20_000 });
    await writeSegment();
    await becomes({ isFailing: false, ageSeconds: 0 });

    writeFileSync(blocker, '');
    await writeSegment();
    await writeSegment();
    await becomes({ isFailing: false, ageSeconds: expect.toSatisfy((age: number) => age > 0.1) });
    rmSync(blocker);
    await becomes({ isFailing: false, ageSeconds: 0 });

    await again.query(`alter system set archive_command = 'false'`);
    await again.query('select pg_reload_conf()');
    await writeSegment();
    await becomes({ isFailing: true, ageSeconds: expect.any(Number) });
    await again.query(`alter system set archive_command = 'true'`);
    await again.query('select pg_reload_conf()');
    await writeSegment();
    await becomes({ isFailing: false, ageSeconds: 0 });
  });
});
