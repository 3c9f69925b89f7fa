// The disk of photos is lost while partners send photos. An operator gets them back from the copy by the page alone.
import { execFile } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import sharp from 'sharp';
import { addAnimals, castOf } from '../../testkit/adopters.ts';
import { HttpClient } from '../../testkit/http.ts';
import { freePort } from '../../testkit/servers.ts';
import { Store } from '../../testkit/store.ts';
import { untilPhotosAreMade } from '../../testkit/store-waits.ts';
import { temporaryFolder } from '../../testkit/temporary-folder.ts';
import { Prometheus } from '../alerts/prometheus.ts';
import { requirePrograms } from '../deploy/programs.ts';
import type { Claim, ProofContext } from '../proof.ts';
import { OperatorShell } from './operator-shell.ts';
import { checksClaim, commandsClaim, follow, type Procedure } from './procedure.ts';

const copied = 6;
const lost = 2;
const alert = 'HomewardPhotosGone';
const alertTimeoutMs = 90_000;
const processedWithinMs = 120_000;

export const photosGone: Procedure = {
  file: 'docs/operations/runbooks.md',
  heading: '## When photos are gone',
  mutant: { from: 'rsync --archive --ignore-existing', to: 'rsync --archive --dry-run' },
  run: losePhotos,
};

async function losePhotos(commands: readonly string[], progress: ProofContext['progress']): Promise<Claim[]> {
  requirePrograms({ rsync: 'rsync', prometheus: 'prometheus', findmnt: 'util-linux' });
  await using resources = new AsyncDisposableStack();
  const { path: folder } = resources.use(temporaryFolder('gone'));
  const [photos, backup] = [path.join(folder, 'photos'), path.join(folder, 'backup')];
  const env = { HOMEWARD_PHOTOS: photos, HOMEWARD_JOURNAL: path.join(folder, 'journal.log') };
  progress('photos-gone: a store');
  const store = resources.use(await Store.open({ processes: 1, env }));
  const metricsPort = await freePort();
  store.work({ HOMEWARD_METRICS_PORT: String(metricsPort) });
  const prometheus = resources.use(
    await Prometheus.start({
      targets: [{ job: 'homeward-worker', port: metricsPort }],
      mountpoint: folder,
      alertmanager: undefined,
      hasRestarts: false,
    }),
  );
  const { manager } = await castOf(store, 0);
  const [petId = 0] = await addAnimals(store, manager, 1);
  const url = `${store.processes[0]?.url}/pets/${petId}/photos`;
  using http = new HttpClient();
  const upload = async (i: number) =>
    (await http.send(url, { method: 'POST', key: manager.key, raw: await makeImage(i), headers: { 'content-type': 'image/jpeg' } })).status;
  for (let i = 0; i < copied; i += 1) await upload(i);
  await untilPhotosAreMade(store, processedWithinMs);
  await promisify(execFile)('rsync', ['--archive', `${photos}/`, `${backup}/`]);
  for (let i = copied; i < copied + lost; i += 1) await upload(i);
  await untilPhotosAreMade(store, processedWithinMs);

  progress('photos-gone: the disk is lost');
  rmSync(photos, { recursive: true });
  mkdirSync(photos);
  const hasFired = await prometheus.untilFiring(alert, true, alertTimeoutMs);
  const whileGone = await upload(90);
  using shell = new OperatorShell({
    ...env,
    DATABASE_URL: store.postgres.url,
    REDIS_URL: store.redis.url,
    PORT: new URL(url).port,
    PHOTOS: photos,
    BACKUP: backup,
  });
  const steps = await follow(shell, commands, (command) => progress(`photos-gone: ${command}`));
  const hasEnded = await prometheus.untilFiring(alert, false, alertTimeoutMs);
  const afterwards = await upload(91);
  await untilPhotosAreMade(store, processedWithinMs);
  const pictures = JSON.parse((await http.send(url, { key: manager.key })).text) as Array<{ urls: ReadonlyArray<{ url: string }> }>;
  const statuses = await Promise.all(
    pictures.flatMap(({ urls }) => urls.map(async (picture) => (await http.send(new URL(picture.url, url).href)).status)),
  );
  const [firstDoctor, lastDoctor] = [0, -1].map((i) => steps.filter(({ command }) => command === 'homeward doctor').at(i));
  return [
    commandsClaim('photos-gone', steps),
    checksClaim('photos-gone: what the page promises, from the alert to its end', {
      [`${alert} fires under a real Prometheus`]: hasFired,
      'an upload is 503 while photos are gone': whileGone === 503,
      'doctor names the photos': firstDoctor?.output.includes('does not have the photos of this store') === true,
      'it has ended': hasEnded,
      'an upload is 202 again': afterwards === 202,
      [`${copied} photos of the copy and the new one are there, and the ${lost} others are removed`]: pictures.length === copied + 1,
      'every picture is 200': statuses.length >= copied + 1 && statuses.every((status) => status === 200),
      'doctor has nothing to say of photos in the end':
        lastDoctor !== undefined && /The directory \S+ can be written/.test(lastDoctor.output),
    }),
  ];
}

const makeImage = (i: number): Promise<Buffer> =>
  sharp({ create: { width: 640, height: 480, channels: 3, background: { r: i * 2, g: 9, b: 99 } } })
    .jpeg()
    .toBuffer();
