// The three ways that run: podman, compose and systemd, each from a clean checkout.
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import sharp from 'sharp';
import { CleanCheckout } from '../../testkit/clean-checkout.ts';
import type { Claim } from '../proof.ts';
import { firstClaim, firstPageClaim } from './first-claim.ts';
import { hostileImageClaim, readAttempts } from './hostile-image-claims.ts';
import { contentClaim, podmanClaims } from './image-claims.ts';
import { buildImages, containerEnv, homewardImage, imageVariables, proofCommit } from './images.ts';
import { run } from './programs.ts';
import { releaseClaim } from './release-claim.ts';

const here = fileURLToPath(new URL('.', import.meta.url));
const trialTimeoutMs = 5 * 60_000;

export async function containerClaims(progress: (text: string) => void): Promise<Claim[]> {
  using checkout = new CleanCheckout();
  const release = await buildImages(checkout, progress);
  const claims = [await contentClaim(), await releaseClaim(release, proofCommit)];
  progress('podman run');
  claims.push(...(await podmanClaims(progress)));
  progress('images');
  claims.push(...(await hostileImageClaims()));
  progress('compose');
  claims.push(...(await composeClaims(checkout)));
  progress('systemd');
  return [...claims, ...(await systemdClaims(release.files, await makePhoto(checkout)))];
}

async function composeClaims(checkout: CleanCheckout): Promise<Claim[]> {
  const lines = await tryOut('try-compose.sh', checkout.folder, { ...imageVariables, PHOTO: await makePhoto(checkout) });
  return [
    firstClaim('compose, by HAProxy with TLS and HTTP/2', lines['first'] === '200 2' ? 200 : 0, Number(lines['first-ms']) / 1_000),
    firstPageClaim('compose, by HAProxy with TLS', Number(lines['page']), Number(lines['page-ms']) / 1_000),
    {
      claim:
        'compose: services that run, published ports, the documentation, processes that Prometheus scrapes, Alertmanagers that it sends to, a journal that all share, and invitations that lead to the console',
      bar: '11 services, 1 port, 200, 5 processes, 1 Alertmanager, a journal, yes',
      figure: `${lines['running']} services, ${lines['published']} port, ${lines['docs']?.split(' ')[0]}, ${lines['targets']} processes, ${lines['alertmanagers']} Alertmanager, ${lines['journal'] === 'true' ? 'a' : 'no'} journal, ${lines['invitation']}`,
      holds:
        lines['invitation'] === 'yes' &&
        lines['running'] === '11' &&
        lines['published'] === '1' &&
        lines['docs'] === '200 2' &&
        lines['targets'] === '5' &&
        lines['alertmanagers'] === '1' &&
        lines['journal'] === 'true',
    },
    photoClaim('compose', lines),
    hostileClaim('compose', lines),
  ];
}

async function systemdClaims(packages: string, photo: string): Promise<Claim[]> {
  const lines = await tryOut('try-systemd.sh', packages, { PHOTO: photo });
  return [
    firstClaim('systemd, from the Debian package', Number(lines['first']), Number(lines['first-ms']) / 1_000),
    firstPageClaim('systemd, from the Debian package', Number(lines['page']), Number(lines['page-ms']) / 1_000),
    {
      claim: 'systemd: a unit that is stopped drains and closes, one that is killed is back, and the owner’s address is hidden from both',
      bar: 'draining and closed, success; 200 from another process; hidden',
      figure: `${lines['drained']} lines in the log, ${lines['result']}, after ${lines['stop-ms']} ms; ${lines['again']}; worker ${lines['worker']}; metrics ${lines['metrics']?.trim()}; ${lines['owner']}; exposure ${lines['exposure']}, of the console ${lines['console-exposure']}, of images ${lines['images-exposure']}`,
      holds:
        lines['drained'] === '2' &&
        lines['result'] === 'success' &&
        lines['again'] === '200 other' &&
        lines['worker'] === 'active' &&
        lines['metrics']?.trim() === '200 200 200' &&
        lines['owner'] === 'hidden' &&
        Number(lines['exposure']) <= 1.5 &&
        Number(lines['console-exposure']) <= 1.5 &&
        Number(lines['images-exposure']) <= 1.5,
    },
    photoClaim('systemd', lines),
    hostileClaim('systemd', lines),
  ];
}

/** By `podman run`, and with the network of the worker, as the containers of a pod have it: there only the filter takes it away. */
async function hostileImageClaims(): Promise<Claim[]> {
  const lines = await tryOut('try-images.sh', homewardImage);
  const byWorker = readAttempts(lines['worker']);
  const leftToPod = readAttempts(lines['pod-unconfined']);
  return [
    hostileImageClaim({
      way: '`podman run`',
      unconfined: readAttempts(lines['container-unconfined']),
      confined: readAttempts(lines['container-confined']),
      byWorker,
    }),
    hostileImageClaim({ way: 'containers that share a network, as in a pod', confined: readAttempts(lines['pod-confined']), byWorker }),
    {
      claim: 'What the containers of a pod leave to an image without that filter',
      bar: 'the network alone: 4 attempts',
      figure: leftToPod.join(', '),
      holds: leftToPod.length === 4 && leftToPod.every((name) => /TCP|name/.test(name)),
    },
    {
      claim: 'The health check of a container that decodes images',
      bar: 'healthy',
      figure: String(lines['container-healthy-confined']),
      holds: lines['container-healthy-confined'] === 'yes',
    },
  ];
}

const hostileClaim = (way: string, lines: Readonly<Record<string, string>>): Claim =>
  hostileImageClaim({
    way,
    unconfined: readAttempts(lines['hostile-unconfined']),
    confined: readAttempts(lines['hostile-confined']),
    byWorker: readAttempts(lines['hostile-worker']),
  });

const photoClaim = (where: string, lines: Readonly<Record<string, string>>): Claim => ({
  claim: `A photo that is uploaded to ${where} is processed by the worker and shown`,
  bar: '200, image/webp',
  figure: (lines['photo'] ?? 'nothing').replace(' ', ', '),
  holds: lines['photo'] === '200 image/webp',
});

async function makePhoto(checkout: CleanCheckout): Promise<string> {
  const file = path.join(checkout.folder, 'photo-of-proof.jpg');
  const noise = { type: 'gaussian', mean: 128, sigma: 30 } as const;
  await sharp({ create: { width: 2_400, height: 1_600, channels: 3, background: 'tan', noise } })
    .jpeg()
    .toFile(file);
  return file;
}

/** Runs a script in a network of its own, so that no port of this machine is used. Returns what it printed, by the first word of a line. */
async function tryOut(script: string, folder: string, env: Readonly<Record<string, string>> = {}): Promise<Record<string, string>> {
  const args = ['--net', '--mount', '--propagation', 'private', path.join(here, script), folder];
  const printed = await run('unshare', args, { env: { ...containerEnv, ...env, NODE: process.execPath }, timeoutMs: trialTimeoutMs });
  return Object.fromEntries(printed.split('\n').map((line) => [line.split(' ', 1)[0], line.slice(line.indexOf(' ') + 1)]));
}
