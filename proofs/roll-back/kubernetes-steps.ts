// The documented steps for Kubernetes, without a cluster: the objects that each `kubectl apply` selects, before and after the change of
// the tag, with every field compared with Kubernetes' types.
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type KubernetesObject, kubernetesClaims, render } from '../deploy/kubernetes.ts';
import { run } from '../deploy/programs.ts';
import type { Claim } from '../proof.ts';
import { stepsOf } from './documented-steps.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const component = 'app.kubernetes.io/component';

export async function kubernetesStepClaims(): Promise<Claim[]> {
  const folder = mkdtempSync(path.join(tmpdir(), 'homeward-roll-back-'));
  try {
    cpSync(path.join(root, 'deploy'), path.join(folder, 'deploy'), { recursive: true, filter: (file) => !file.endsWith('/secrets') });
    const overlay = path.join(folder, 'deploy/kubernetes/overlays/production');
    const [upgrade, back] = ['Upgrade Kubernetes', 'Roll back Kubernetes'].map((heading) => linesOf(stepsOf(heading)));
    await setTag(folder, upgrade ?? []);
    const fields = await kubernetesClaims(path.join(folder, 'deploy'));
    const upgraded = await render(overlay);
    await setTag(folder, back ?? []);
    const before = await render(overlay);
    const applied = (upgrade ?? []).filter((line) => line.startsWith('kubectl apply')).map((line) => kindsSelectedBy(line, upgraded));
    const undone = (back ?? []).filter((line) => line.startsWith('kubectl apply')).map((line) => kindsSelectedBy(line, before));
    const [order, orderBack] = [applied, undone].map((selected) =>
      selected.map(({ hasMigration, api, worker, hasConsole }) =>
        [hasMigration && 'migration', worker && 'worker', api && 'API', hasConsole && 'console'].filter(Boolean).join('+'),
      ),
    );
    const tags = [imagesOf(upgraded), imagesOf(before)].map((images) => images.join(', '));
    return [
      ...fields,
      {
        claim: 'Kubernetes: what each documented `kubectl apply` starts, in order; what is rolled back, in order; the tags after both',
        bar: 'migration, worker, migration+worker+API+console, the last of which is done already for the first two; API, worker; the new and the old tag',
        figure: `${order?.join(', ')}; ${orderBack?.join(', ')}; ${tags.join(' and ')}`,
        holds:
          order?.join() === 'migration,worker,migration+worker+API+console' &&
          orderBack?.join() === 'API,worker' &&
          tags[0] === 'registry.example.org/homeward:1.0.0-abcdef0' &&
          tags[1] === 'registry.example.org/homeward:1.0.0-0123abc',
      },
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const linesOf = (steps: readonly string[]): string[] => steps.flatMap((step) => step.trim().split('\n'));

/** By the documented command. */
async function setTag(folder: string, lines: readonly string[]): Promise<void> {
  const [command, ...others] = lines.filter((line) => line.startsWith('sed '));
  if (!command || others.length > 0) throw new Error('the steps for Kubernetes must set the tag once');
  await run('sh', ['-euc', command], { cwd: folder });
}

interface Selected {
  readonly hasMigration: boolean;
  readonly api: boolean;
  readonly worker: boolean;
  readonly hasConsole: boolean;
}

/** kubectl filters what Kustomize has rendered by its labels. */
function kindsSelectedBy(line: string, objects: readonly KubernetesObject[]): Selected {
  const selector = /-l '?([^']+?)'?$/.exec(line)?.[1];
  const isSelected = ({ metadata }: KubernetesObject) => {
    const value = metadata.labels?.[component] ?? '';
    const excluded = new RegExp(`^${component} notin \\((.+)\\)$`).exec(selector ?? '')?.[1];
    if (selector === undefined) return true;
    if (excluded !== undefined) return !excluded.split(',').includes(value);
    const wanted = new RegExp(`^${component}=(.+)$`).exec(selector)?.[1];
    if (wanted === undefined) throw new Error(`the selector "${selector}" is not known`);
    return value === wanted;
  };
  const selected = objects.filter(isSelected);
  const has = (kind: string, name: string) => selected.some((object) => object.kind === kind && object.metadata.name === name);
  return {
    hasMigration: has('Job', 'homeward-migrate'),
    api: has('Deployment', 'homeward-api'),
    worker: has('Deployment', 'homeward-worker'),
    hasConsole: has('Deployment', 'homeward-console'),
  };
}

const imagesOf = (objects: readonly KubernetesObject[]): string[] => [
  ...new Set(objects.flatMap(({ spec }) => spec?.template?.spec.containers.map(({ image }) => image) ?? [])),
];
