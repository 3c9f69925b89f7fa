// The files of deploy/ agree with the source and with each other. The proof `deploy` runs them.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseAllDocuments, parseDocument } from 'yaml';
import { variables } from '../../src/config.ts';
import { fillFigures } from './source-figures.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');
const { version } = JSON.parse(read('service/package.json')) as { version: string };
const closeSeconds = Number.parseFloat(fillFigures('{closeTimeoutMs s}', ['cli/serve.ts']));

interface Service {
  readonly image: string;
  readonly environment?: Readonly<Record<string, string | null>>;
  readonly ports?: readonly string[];
  readonly secrets?: readonly string[];
  readonly cap_drop?: readonly string[];
  readonly read_only?: boolean;
  readonly security_opt?: readonly string[];
  readonly stop_grace_period?: string;
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
}

const compose = parseDocument(read('compose.yaml'), { merge: true }).toJS() as Compose;

describe('The release and its Node.js', () => {
  test('are those of the image', () => {
    expect(/^ARG NODE_IMAGE=node:([\d.]+)-/m.exec(read('Dockerfile'))?.[1]).toBe(read('.nvmrc').trim());
    expect(/^ARG VERSION=(.+)$/m.exec(read('Dockerfile'))?.[1]).toBe(version);
  });

  test('are those that compose and Kubernetes run', () => {
    expect(compose.services['api-1']?.image).toBe(`\${HOMEWARD_IMAGE:-homeward:${version}}`);
    for (const folder of ['base', 'overlays/production'])
      expect(/^ {4}newTag: (.+)$/m.exec(read(`deploy/kubernetes/${folder}/kustomization.yaml`))?.[1]).toBe(version);
  });
});

describe('compose.yaml', () => {
  test('publishes no port but that of HAProxy', () => {
    const published = Object.entries(compose.services).filter(([, { ports = [] }]) => ports.length > 0);
    expect(published.map(([name]) => name)).toEqual(['haproxy']);
  });

  test('gives no service new privileges, and none but PostgreSQL, which changes its user, capabilities or a writable file system', () => {
    const { postgres, ...others } = compose.services;
    expect(postgres?.security_opt).toEqual(['no-new-privileges:true']);
    for (const [name, { security_opt, cap_drop, read_only }] of Object.entries(others))
      expect([name, security_opt, cap_drop, read_only]).toEqual([name, ['no-new-privileges:true'], ['ALL'], true]);
  });

  test('gives the address of the owner to the migration only', () => {
    const receivers = Object.entries(compose.services).filter(([, { secrets = [] }]) => secrets.includes('owner-database-url'));
    expect(receivers.map(([name]) => name)).toEqual(['migrate']);
  });

  test('sets no variable of Homeward that does not exist', () => {
    const set = ['api-1', 'api-2', 'worker', 'migrate'].flatMap((name) => Object.keys(compose.services[name]?.environment ?? {}));
    expect(set.filter((name) => !isVariable(name))).toEqual([]);
  });
});

describe('deploy/compose/prepare', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'homeward-prepare-'));
    cpSync(path.join(root, 'deploy/compose/prepare'), path.join(folder, 'prepare'));
    execFileSync(path.join(folder, 'prepare'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));
  const secrets = () => path.join(folder, 'secrets');
  const contents = () => readdirSync(secrets()).map((file) => readFileSync(path.join(secrets(), file), 'utf8'));

  test('writes every secret that compose.yaml reads, in a folder that nobody else can enter', () => {
    const needed = Object.values(compose.secrets).map(({ file }) => path.basename(file));
    expect(readdirSync(secrets())).toEqual(expect.arrayContaining(needed));
    expect(statSync(secrets()).mode & 0o777).toBe(0o700);
    expect(read('.gitignore')).toContain('deploy/compose/secrets/');
  });

  test('changes nothing when it runs again', () => {
    const before = contents();
    execFileSync(path.join(folder, 'prepare'));
    expect(contents()).toEqual(before);
  });
});

describe('The time to shut down', () => {
  test('of a service in compose is longer than drain and closing', () => {
    const { environment, stop_grace_period } = compose.services['api-1'] ?? {};
    expect(Number.parseInt(stop_grace_period ?? '', 10)).toBeGreaterThan(Number(environment?.['HOMEWARD_DRAIN_MS']) / 1_000 + closeSeconds);
  });

  test('of a pod is longer than drain and closing', () => {
    const drainMs = /HOMEWARD_DRAIN_MS=(\d+)/.exec(read('deploy/kubernetes/base/kustomization.yaml'))?.[1];
    const [api] = parseAllDocuments(read('deploy/kubernetes/base/api.yaml')).map((document) => document.toJS());
    expect(api.spec.template.spec.terminationGracePeriodSeconds).toBeGreaterThan(Number(drainMs) / 1_000 + closeSeconds);
  });

  test('of a unit is longer than drain and closing', () => {
    const drainMs = /^HOMEWARD_DRAIN_MS=(\d+)$/m.exec(read('deploy/systemd/homeward.env'))?.[1];
    const stopSeconds = /^TimeoutStopSec=(\d+)$/m.exec(read('deploy/systemd/homeward-api@.service'))?.[1];
    expect(Number(stopSeconds)).toBeGreaterThan(Number(drainMs) / 1_000 + closeSeconds);
  });
});

test('deploy/systemd/homeward.env sets and suggests only variables that exist', () => {
  const names = [...read('deploy/systemd/homeward.env').matchAll(/^#?([A-Z_]+)=/gm)].map(([, name = '']) => name);
  expect(names.length).toBeGreaterThan(3);
  expect(names.filter((name) => !isVariable(name))).toEqual([]);
});

function isVariable(name: string): boolean {
  return Object.hasOwn(variables, name);
}
