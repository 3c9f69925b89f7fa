// Four ways to deploy a store, each from a clean checkout to a first 200. The short form checks the files by the programs that read
// them, and runs what needs no container; the long form builds the images and runs everything.
import { cpSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { replaceOnce } from '../../testkit/mutant.ts';
import { Store } from '../../testkit/store.ts';
import { temporaryFolder } from '../../testkit/temporary-folder.ts';
import type { Claim, Proof, ProofContext } from '../proof.ts';
import { containerClaims } from './containers.ts';
import { bareImageClaims } from './hostile-image-claims.ts';
import { requireContainers } from './images.ts';
import { kubernetesClaims } from './kubernetes.ts';
import { proxyClaims } from './proxies.ts';
import { instants, type Stopped, stopClaim, stopPlainProcess } from './starts.ts';
import { unitClaims } from './units.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const shortInstantsMs = [0, 20, 60, 120, 250, 500, 1_000, 2_000];
const shortStream = { seconds: 1 };
/** Longer than the timeouts of the proxies. */
const longStream = { seconds: 75 };

export const deploy: Proof = {
  name: 'deploy',
  promise: 'an image, compose, systemd and Kubernetes: each leads from a clean checkout to a first 200 within a minute',
  hasMutant: true,
  runsAlone: true,
  isNightly: true,
  about: ['deploy', 'Dockerfile', 'compose.yaml', 'service/package.json', 'tools/build.ts', 'proofs/deploy'],
  run,
};

/** In the mutant a probe is misspelt, the console gets the host of the API, its links are logged, images are decoded by the worker's user, a unit keeps its capabilities, and the proxies pass on what callers say about their address, accept any number of connections, log no id, choose a process without the query, and log the paths of adopters' pages. */
const faults: ReadonlyArray<{ file: string; from: string; to: string }> = [
  { file: 'kubernetes/base/api.yaml', from: 'readinessProbe:', to: 'readynessProbe:' },
  { file: 'kubernetes/base/worker.yaml', from: 'runAsUser: 1001', to: 'runAsUser: 1000' },
  { file: 'kubernetes/overlays/production/ingress.yaml', from: '- host: console.example.org', to: '- host: store.example.org' },
  { file: 'systemd/homeward-worker.service', from: 'CapabilityBoundingSet=\n', to: '' },
  { file: 'systemd/homeward-console.service', from: 'CapabilityBoundingSet=\n', to: '' },
  { file: 'haproxy/haproxy.cfg', from: 'set-header x-forwarded-for', to: 'set-header x-other' },
  { file: 'nginx/homeward.conf', from: "contains this proxy's.\n  proxy_set_header x-forwarded-for $remote_addr;", to: '' },
  { file: 'haproxy/haproxy.cfg', from: 'connection reject if', to: 'connection accept if' },
  { file: 'haproxy/haproxy.cfg', from: 'capture response header x-request-id', to: 'capture response header x-other' },
  { file: 'nginx/homeward-connections.conf', from: 'limit_conn homeward 256;', to: '' },
  { file: 'nginx/homeward.conf', from: " $sent_http_x_request_id';\nlog_format", to: "';\nlog_format" },
  { file: 'haproxy/haproxy.cfg', from: 'str(/a/...)', to: 'url' },
  { file: 'nginx/homeward.conf', from: 'error_log /dev/null;\n    proxy_pass http://homeward;', to: 'proxy_pass http://homeward;' },
  { file: 'haproxy/haproxy.cfg', from: 'str(/link/...)', to: 'url' },
  { file: 'haproxy/haproxy.cfg', from: 'balance uri whole path-only', to: 'balance uri' },
  { file: 'nginx/homeward.conf', from: '/link/...;', to: '$request_uri;' },
];

async function run({ short, mutant, progress }: ProofContext): Promise<Claim[]> {
  if (!short && !mutant) requireContainers();
  using temporary = temporaryFolder('deploy');
  const files = path.join(temporary.path, 'deploy');
  cpSync(path.join(root, 'deploy'), files, { recursive: true, filter: (file) => !file.endsWith('/secrets') });
  if (mutant) for (const { file, from, to } of faults) replaceOnce(path.join(files, file), from, to);
  progress('Kustomize and systemd');
  const claims = [...(await kubernetesClaims(files)), ...(await unitClaims(files))];
  claims.push(...(await proxyClaims(files, (short ? shortStream : longStream).seconds, progress)));
  if (mutant) return claims;
  // Another user and another network need root.
  if (process.getuid?.() === 0) {
    progress('hostile images');
    claims.push(...(await bareImageClaims()));
  }
  progress('SIGTERM during the start');
  claims.push(stopClaim('the start of `serve`', await stopDuringStart(short)));
  return short ? claims : [...claims, ...(await containerClaims(progress))];
}

async function stopDuringStart(short: boolean): Promise<Stopped[]> {
  await using store = await Store.open({ processes: 0 });
  const stopped: Stopped[] = [];
  for (const instantMs of short ? shortInstantsMs : instants(25, 2_000)) stopped.push(await stopPlainProcess(store, instantMs));
  return stopped;
}
