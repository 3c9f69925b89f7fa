// The objects for Kubernetes: rendered by kubectl, and compared with the types of Kubernetes, without a cluster.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseAllDocuments } from 'yaml';
import { installOnDemand } from '../../tools/install-on-demand.ts';
import type { Claim } from '../proof.ts';
import { attempt, requirePrograms, run } from './programs.ts';

const typesFolder = fileURLToPath(new URL('kubernetes-types/', import.meta.url));
const tsc = fileURLToPath(new URL('../../node_modules/.bin/tsc', import.meta.url));

interface Container {
  readonly name: string;
  readonly image: string;
  readonly args?: readonly string[];
  readonly startupProbe?: object;
  readonly livenessProbe?: object;
  readonly readinessProbe?: object;
  readonly env?: ReadonlyArray<{ readonly name: string }>;
  readonly envFrom?: readonly object[];
  readonly volumeMounts?: ReadonlyArray<{ readonly name: string; readonly mountPath?: string; readonly readOnly?: boolean }>;
  readonly securityContext?: {
    readonly runAsUser?: number;
    readonly allowPrivilegeEscalation?: boolean;
    readonly readOnlyRootFilesystem?: boolean;
    readonly capabilities?: { readonly drop?: readonly string[] };
  };
}

interface PodSpec {
  readonly automountServiceAccountToken?: boolean;
  readonly terminationGracePeriodSeconds?: number;
  readonly topologySpreadConstraints?: readonly object[];
  readonly shareProcessNamespace?: boolean;
  readonly securityContext?: { readonly runAsUser?: number };
  readonly containers: readonly Container[];
  readonly volumes?: ReadonlyArray<{ readonly name: string; readonly persistentVolumeClaim?: { readonly claimName: string } }>;
}

export interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
  readonly spec?: {
    readonly template?: { readonly spec: PodSpec };
    readonly accessModes?: readonly string[];
    readonly rules?: ReadonlyArray<{ readonly host?: string }>;
  };
  readonly data?: Readonly<Record<string, string>>;
}

export async function kubernetesClaims(deploy: string): Promise<Claim[]> {
  requirePrograms({ kubectl: 'kubernetes-client' });
  await installOnDemand(typesFolder, "Kubernetes' types (proofs/deploy/kubernetes-types)");
  const rendered = await Promise.all(
    ['base', 'overlays/production', ...['photos', 'mail', 'provider'].map((what) => `overlays/production-with-${what}`)].map((folder) =>
      render(path.join(deploy, 'kubernetes', folder)),
    ),
  );
  const objects = rendered.flat();
  const problems = [
    ...(await findInvalid(objects)),
    ...(await findUnknownFields(objects)),
    ...rendered.slice(1).flat().flatMap(findUnsafe),
    ...rendered.flatMap(findWithoutJournal),
    ...rendered.slice(1).flatMap(findUnreachable),
    ...rendered.flatMap(findWithoutPhotos),
  ];
  const decoders = objects.filter(({ spec }) => spec?.template?.spec.containers.some(({ args }) => args?.includes('images')));
  const kinds = new Set(objects.map(({ kind }) => kind));
  const missing = expectedKinds.filter((kind) => !kinds.has(kind));
  return [
    {
      claim:
        'Kustomize: the base and the overlays for production, alone, with photos, with mail and with a provider, are rendered, Kubernetes knows every field and value, the API, the worker and the console write to one journal, the console and the API are each reached by a host name and a network policy of their own, and take photos in, and the container that decodes images shares no user, setting, secret or volume but its socket',
      bar: `0 problems in ${expectedKinds.length} kinds of objects`,
      figure: `${objects.length} objects of ${kinds.size} kinds, ${problems.length} problems${problems.length > 0 ? `: ${problems.slice(0, 5).join('; ')}` : ''}${missing.length > 0 ? `; missing: ${missing.join(', ')}` : ''}`,
      holds: problems.length === 0 && missing.length === 0 && objects.length > 20 && decoders.length === rendered.length,
    },
  ];
}

const expectedKinds = [
  'ConfigMap',
  'Deployment',
  'HorizontalPodAutoscaler',
  'Ingress',
  'Job',
  'Namespace',
  'NetworkPolicy',
  'PersistentVolumeClaim',
  'PodDisruptionBudget',
  'Service',
  'ServiceAccount',
];

export async function render(folder: string): Promise<KubernetesObject[]> {
  const text = await run('kubectl', ['kustomize', folder]);
  return parseAllDocuments(text).flatMap((document) => (document.toJS() as KubernetesObject | null) ?? []);
}

/** By the schema of each kind: missing fields, wrong types and formats. */
async function findInvalid(objects: readonly KubernetesObject[]): Promise<string[]> {
  const problems: string[] = [];
  for (const object of objects) {
    const file = path.join(typesFolder, 'node_modules/kubernetes-models', object.apiVersion, `${object.kind}.js`);
    try {
      const models = (await import(pathToFileURL(file).href)) as Record<string, new (data: object) => { validate(): void }>;
      const Model = models[object.kind];
      if (!Model) throw new Error('there is no such kind');
      new Model(object).validate();
    } catch (error) {
      problems.push(`${nameOf(object)}: ${(error as Error).message}`);
    }
  }
  return problems;
}

/** Kubernetes' schemas allow unknown fields, so a misspelt one would be ignored. TypeScript rejects it. */
async function findUnknownFields(objects: readonly KubernetesObject[]): Promise<string[]> {
  const folder = path.join(typesFolder, 'node_modules/.cache', `rendered-${process.pid}`);
  const lines = objects.map(
    (object, i) =>
      `import type { I${object.kind} as T${i} } from 'kubernetes-models/${object.apiVersion}/${object.kind}';\nexport const o${i}: T${i} = ${JSON.stringify(object)};`,
  );
  mkdirSync(folder, { recursive: true });
  try {
    const file = path.join(folder, 'objects.ts');
    writeFileSync(file, lines.join('\n'));
    const options = [
      '--noEmit',
      '--ignoreConfig',
      '--strict',
      '--skipLibCheck',
      '--module',
      'nodenext',
      '--target',
      'esnext',
      '--types',
      '',
    ];
    const { status, stdout, stderr } = await attempt(tsc, [...options, file], { cwd: typesFolder, timeoutMs: 120_000 });
    return status === 0 ? [] : [`${stdout}${stderr}`.trim().slice(0, 1_000)];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What the types allow and a store must not have. */
function findUnsafe(object: KubernetesObject): string[] {
  const fault = (what: string) => `${nameOf(object)}: ${what}`;
  if (object.kind === 'Secret') return [fault('a secret must be referred to, not written down')];
  const pod = object.spec?.template?.spec;
  if (!pod) return [];
  const problems: string[] = [];
  if (pod.automountServiceAccountToken !== false) problems.push(fault('the pod gets a token'));
  if (object.kind === 'Deployment' && (pod.topologySpreadConstraints ?? []).length === 0) problems.push(fault('its pods are not spread'));
  for (const { name, args = [], securityContext = {}, ...container } of pod.containers) {
    if (args.includes('images')) problems.push(...findShared(pod, { name, args, securityContext, ...container }).map(fault));
    if (!securityContext.readOnlyRootFilesystem) problems.push(fault(`${name} can write to its file system`));
    if (!securityContext.capabilities?.drop?.includes('ALL')) problems.push(fault(`${name} has capabilities`));
    if (!/:\d+\.\d+\.\d+(?:-[0-9a-f]{7,})?$/.test(container.image))
      problems.push(fault(`${name} has the image ${container.image}, without a version`));
    const probes = [container.startupProbe, container.livenessProbe, container.readinessProbe];
    if (isServer(args) && probes.includes(undefined)) problems.push(fault(`${name} lacks a probe`));
  }
  return problems;
}

/** A key that is revoked in a pod of the API must be in the journal that the workers have, on whatever node each of them is. */
function findWithoutJournal(objects: readonly KubernetesObject[]): string[] {
  const setting = objects.find(({ kind }) => kind === 'ConfigMap')?.data?.['HOMEWARD_JOURNAL'] ?? '';
  const claims = objects.filter(({ kind, spec }) => kind === 'PersistentVolumeClaim' && spec?.accessModes?.includes('ReadWriteMany'));
  const names = claims.map(({ metadata }) => metadata.name);
  const writers = objects.flatMap((object) =>
    (object.spec?.template?.spec.containers ?? []).map((container) => ({ object, ...container })),
  );
  return writers
    .filter(({ args = [] }) => isServer(args) || args.includes('worker'))
    .filter(({ object, envFrom = [], volumeMounts = [] }) => {
      const mount = volumeMounts.find(({ mountPath, readOnly }) => `${mountPath}/` === setting && !readOnly);
      const volume = object.spec?.template?.spec.volumes?.find(({ name }) => name === mount?.name);
      return envFrom.length === 0 || !names.includes(volume?.persistentVolumeClaim?.claimName ?? '');
    })
    .map(({ object, name }) => `${nameOf(object)}: ${name} does not write to the journal that all share`);
}

/** Photos arrive at each server, which writes them to /tmp and then sends them to the bucket. */
function findWithoutPhotos(objects: readonly KubernetesObject[]): string[] {
  const hasPhotos = objects.some(({ kind, data }) => kind === 'ConfigMap' && data?.['HOMEWARD_PHOTOS'] !== undefined);
  const way = JSON.stringify(objects.find(({ metadata }) => metadata.name === 'homeward-to-photos')?.spec ?? {});
  const servers = objects.flatMap(({ spec }) => (spec?.template?.spec.containers ?? []).filter(({ args = [] }) => isServer(args)));
  return servers
    .filter(({ name, volumeMounts = [] }) => !volumeMounts.some(({ mountPath }) => mountPath === '/tmp') || !way.includes(`"${name}"`))
    .filter(() => hasPhotos)
    .map(({ name }) => `${name} has no room for photos that arrive, or no way to the bucket`);
}

const isServer = (args: readonly string[]) => args.includes('serve') || args.includes('console');

/** What has a service for callers has host names of its own, of which one is that of the console's links, and a policy that lets the ingress in. */
function findUnreachable(objects: readonly KubernetesObject[]): string[] {
  const of = (kind: string) => objects.filter((object) => object.kind === kind);
  const url = of('ConfigMap').map(({ data }) => data?.['HOMEWARD_CONSOLE_URL'])[0];
  const hostsOf = (name: string) =>
    new Set(
      of('Ingress').flatMap(({ spec }) => (JSON.stringify(spec).includes(`"${name}"`) ? (spec?.rules ?? []).map(({ host }) => host) : [])),
    );
  const [api, console] = ['homeward-api', 'homeward-console'].map(hostsOf);
  const policies = of('NetworkPolicy').map(({ metadata }) => metadata.name);
  const checks: Readonly<Record<string, boolean>> = {
    'the console is not at the host of its links': console?.size !== 1 || ![...console].every((host) => url === `https://${host}`),
    'the console has the host of the API': api?.size !== 1 || [...api].some((host) => console?.has(host)),
    'the ingress may not reach a service': !['api', 'console'].every((name) => policies.includes(`homeward-${name}-from-ingress`)),
  };
  return Object.keys(checks).filter((what) => checks[what]);
}

/** What the container that decodes images must not have in common with the one that it decodes for. */
function findShared(pod: PodSpec, { env = [], envFrom = [], volumeMounts = [], securityContext = {} }: Container): string[] {
  const users = [pod, ...pod.containers].map((one) => one.securityContext?.runAsUser);
  const checks: Readonly<Record<string, boolean>> = {
    'its user is shared': securityContext.runAsUser === undefined || users.filter((user) => user === securityContext.runAsUser).length > 1,
    'it may gain rights': securityContext.allowPrivilegeEscalation !== false,
    'it has settings': envFrom.length > 0 || env.some(({ name }) => name !== 'HOMEWARD_IMAGES_SOCKET'),
    'it has a volume besides its socket': volumeMounts.some(({ name }) => name !== 'images'),
    'it sees the processes of the pod': pod.shareProcessNamespace === true,
  };
  return Object.keys(checks)
    .filter((what) => checks[what])
    .map((what) => `images: ${what}`);
}

const nameOf = ({ apiVersion, kind, metadata }: KubernetesObject) => `${apiVersion} ${kind} ${metadata.name}`;
