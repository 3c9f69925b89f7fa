// A real S3 server for tests: Ceph's gateway from the installed packages (ceph-mon, ceph-osd, radosgw, ceph-common), in memory, on
// loopback: one monitor, one store of objects, one gateway. Servers that only imitate S3 accept wrong secrets.
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { accepts, freePort } from './servers.ts';
import { until } from './until.ts';

const startTimeoutMs = 60_000;
const programs = ['radosgw', 'radosgw-admin', 'ceph', 'ceph-mon', 'ceph-osd', 'ceph-authtool', 'monmaptool'];
const run = promisify(execFile);

/** Whether everything that is needed is on the path. */
export const hasRadosgw = async (): Promise<boolean> =>
  (
    await Promise.all(
      programs.map((program) =>
        run('which', [program]).then(
          () => true,
          () => false,
        ),
      ),
    )
  ).every(Boolean);

export interface Radosgw extends AsyncDisposable {
  readonly endpoint: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

const accessKeyId = 'homeward';
const secretAccessKey = 'homeward-secret';

export async function startRadosgw(): Promise<Radosgw> {
  const folder = mkdtempSync(path.join(tmpdir(), 'homeward-s3-'));
  for (const part of ['mon', 'osd', 'rgw', 'run']) mkdirSync(path.join(folder, part));
  const [port, ...monitorPorts] = [await freePort(), await freePort(), await freePort()];
  const monitors = `[v2:127.0.0.1:${monitorPorts[0]},v1:127.0.0.1:${monitorPorts[1]}]`;
  const fsid = crypto.randomUUID();
  const config = path.join(folder, 'ceph.conf');
  const keyring = path.join(folder, 'keyring');
  writeFileSync(config, configOf({ folder, fsid, monitors, port: port ?? 0 }));
  const stop = async () => {
    for (const name of ['client.rgw', 'osd.0', 'mon.a']) await end(path.join(folder, `${name}.pid`));
    rmSync(folder, { recursive: true, force: true });
  };
  const daemon = ['--setuser', 'root', '--setgroup', 'root', '-c', config];
  const addKey = (name: string, ...caps: string[]) => run('ceph-authtool', [keyring, '--gen-key', '-n', name, ...caps]);
  try {
    await run('ceph-authtool', ['--create-keyring', keyring, '--gen-key', '-n', 'mon.', '--cap', 'mon', 'allow *']);
    await addKey('client.admin', '--cap', 'mon', 'allow *', '--cap', 'osd', 'allow *', '--cap', 'mgr', 'allow *');
    await addKey('osd.0', '--cap', 'mon', 'allow profile osd', '--cap', 'osd', 'allow *');
    await addKey('client.rgw', '--cap', 'mon', 'allow rwx', '--cap', 'osd', 'allow rwx');
    const map = path.join(folder, 'monmap');
    await run('monmaptool', ['--create', '--fsid', fsid, '--addv', 'a', monitors, map]);
    await run('ceph-mon', [...daemon, '-i', 'a', '--mkfs', '--monmap', map, '--keyring', keyring]);
    await run('ceph-mon', [...daemon, '-i', 'a']);
    await untilReady('the monitor', () => run('ceph', ['-c', config, 'mon', 'stat'], { timeout: 5_000 }).then(() => true));
    await run('ceph', ['-c', config, 'osd', 'create']);
    await run('ceph-osd', [...daemon, '-i', '0', '--mkfs']);
    await run('ceph-osd', [...daemon, '-i', '0']);
    await untilReady('the storage', async () => (await run('ceph', ['-c', config, 'osd', 'stat'])).stdout.includes('1 up'));
    await run('radosgw', [...daemon, '-n', 'client.rgw']);
    const user = ['user', 'create', '--uid=homeward', '--display-name=homeward'];
    await run('radosgw-admin', [
      '-c',
      config,
      '-n',
      'client.rgw',
      ...user,
      `--access-key=${accessKeyId}`,
      `--secret-key=${secretAccessKey}`,
    ]);
    await untilReady('the gateway', () => accepts(port ?? 0));
  } catch (error) {
    await stop();
    throw error;
  }
  return { endpoint: `http://127.0.0.1:${port}`, accessKeyId, secretAccessKey, [Symbol.asyncDispose]: stop };
}

const untilReady = (part: string, isReady: () => Promise<boolean>) =>
  until(`${part} of Ceph is ready`, () => isReady().catch(() => false), { timeoutMs: startTimeoutMs, intervalMs: 200 });

/** Ends the process whose id is in the file, and waits until it has ended. */
async function end(file: string): Promise<void> {
  try {
    const pid = Number(readFileSync(file, 'utf8'));
    process.kill(pid, 'SIGKILL');
    for (;;) {
      process.kill(pid, 0);
      await sleep(20);
    }
  } catch {
    // It does not run, or not any more.
  }
}

interface Settings {
  readonly folder: string;
  readonly fsid: string;
  readonly monitors: string;
  readonly port: number;
}

const configOf = ({ folder, fsid, monitors, port }: Settings) => `[global]
fsid = ${fsid}
mon host = ${monitors}
public addr = 127.0.0.1
cluster addr = 127.0.0.1
ms bind ipv6 = false
run dir = ${folder}/run
admin socket = ${folder}/run/$name.$pid.asok
pid file = ${folder}/$name.pid
log file = ${folder}/$name.log
keyring = ${folder}/keyring
crash dir = ${folder}
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 1
osd crush chooseleaf type = 0
mon allow pool size one = true
mon warn on pool no redundancy = false
[mon.a]
mon data = ${folder}/mon
[osd.0]
osd data = ${folder}/osd
osd objectstore = memstore
memstore device bytes = 1073741824
[client.rgw]
rgw data = ${folder}/rgw
rgw frontends = beast endpoint=127.0.0.1:${port}
rgw dns name = 127.0.0.1
`;
