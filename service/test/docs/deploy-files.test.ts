// The files of deploy/ agree with the source and with each other. The proof `deploy` runs them.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseAllDocuments, parseDocument } from 'yaml';
import { linkPaths } from '../../src/access/people/links.ts';
import { variables } from '../../src/platform/config.ts';
import { fillFigures } from './source-figures.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');
const { version } = JSON.parse(read('service/package.json')) as { version: string };
const closeSeconds = Number.parseFloat(fillFigures('{closeTimeoutMs s}', ['cli/processes/serve.ts']));

interface Service {
  readonly image: string;
  readonly environment?: Readonly<Record<string, string | null>>;
  readonly ports?: readonly string[];
  readonly secrets?: readonly string[];
  readonly cap_drop?: readonly string[];
  readonly read_only?: boolean;
  readonly security_opt?: readonly string[];
  readonly stop_grace_period?: string;
  readonly logging?: { readonly driver: string; readonly options: Readonly<Record<string, string>> };
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
}

const compose = parseDocument(read('compose.yaml'), { merge: true }).toJS() as Compose;

describe('The release and its Node.js', () => {
  test('are those of the image', () => {
    expect(/^FROM node:([\d.]+)-/m.exec(read('Dockerfile'))?.[1]).toBe(read('.nvmrc').trim());
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

  test('bounds the log of every service', () => {
    for (const [name, { logging }] of Object.entries(compose.services))
      expect([name, logging]).toEqual([name, { driver: 'json-file', options: { 'max-size': '50m', 'max-file': '5' } }]);
  });

  test('has Prometheus scrape the jobs that alerts name, and send to Alertmanager', () => {
    const { scrape_configs, alerting } = parseDocument(read('deploy/compose/prometheus.yml')).toJS() as {
      scrape_configs: ReadonlyArray<{ job_name: string; static_configs: ReadonlyArray<{ targets: readonly string[] }> }>;
      alerting: { alertmanagers: ReadonlyArray<{ static_configs: ReadonlyArray<{ targets: readonly string[] }> }> };
    };
    const named = [...read('deploy/prometheus/alerts.yml').matchAll(/job="([^"]+)"/g)].map(([, job]) => job);
    expect(new Set(scrape_configs.map(({ job_name }) => job_name))).toEqual(new Set(named));
    const targets = [...scrape_configs, ...alerting.alertmanagers].flatMap(({ static_configs }) =>
      static_configs.flatMap((one) => one.targets),
    );
    expect(targets.map((target) => target.split(':')[0]).filter((service = '') => !(service in compose.services))).toEqual([]);
  });

  test('gives the address of the owner to the migration only', () => {
    const receivers = Object.entries(compose.services).filter(([, { secrets = [] }]) => secrets.includes('owner-database-url'));
    expect(receivers.map(([name]) => name)).toEqual(['migrate']);
  });

  test('sets no variable of Homeward that does not exist', () => {
    const set = ['api-1', 'api-2', 'worker', 'console', 'migrate'].flatMap((name) =>
      Object.keys(compose.services[name]?.environment ?? {}),
    );
    expect(set.filter((name) => !isVariable(name))).toEqual([]);
  });
});

describe('deploy/compose/prepare', () => {
  let folder: string;
  beforeAll(() => {
    const deploy = mkdtempSync(path.join(tmpdir(), 'homeward-prepare-'));
    for (const file of ['compose/prepare', 'alertmanager/alertmanager.yml'])
      cpSync(path.join(root, 'deploy', file), path.join(deploy, file), { recursive: true });
    folder = path.join(deploy, 'compose');
    execFileSync(path.join(folder, 'prepare'));
  });
  afterAll(() => rmSync(path.dirname(folder), { recursive: true }));
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

describe('deploy/compose/use-image', () => {
  test('writes the image to .env, keeps other lines, and goes back to the one before', () => {
    const folder = copyOf('deploy/compose/use-image');
    const use = (image: string) => execFileSync(path.join(folder, 'deploy/compose/use-image'), [image], { encoding: 'utf8' });
    const env = () => readFileSync(path.join(folder, '.env'), 'utf8');
    writeFileSync(path.join(folder, '.env'), 'POSTGRES_IMAGE=mine\n');
    expect(() => use('--before')).toThrow('names no image before');
    use('homeward:1.0.0-0123abc');
    expect(use('homeward:1.0.0-abcdef0')).toBe('homeward:1.0.0-abcdef0\n');
    // Again: the one before is still the other one.
    use('homeward:1.0.0-abcdef0');
    expect(env()).toBe('POSTGRES_IMAGE=mine\nHOMEWARD_IMAGE=homeward:1.0.0-abcdef0\nHOMEWARD_IMAGE_BEFORE=homeward:1.0.0-0123abc\n');
    expect(use('--before')).toBe('homeward:1.0.0-0123abc\n');
    expect(env()).toContain('HOMEWARD_IMAGE=homeward:1.0.0-0123abc\n');
    rmSync(folder, { recursive: true });
  });
});

test('deploy/assemble takes all files that the program reads when it starts', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'homeward-assembled-'));
  const copies = read('deploy/assemble')
    .split('\n')
    .filter((line) => /^(cp|mkdir) /.test(line) && !/"\$folder"$|sdk/.test(line));
  execFileSync('sh', ['-euc', ['mkdir -p "$folder/service"', ...copies].join('\n')], { cwd: root, env: { ...process.env, folder } });
  for (const part of ['node_modules', 'service/node_modules']) symlinkSync(path.join(root, part), path.join(folder, part));
  const script = `const { readAssets } = await import('${folder}/service/src/console/frame/assets.ts'); console.log(readAssets().files.size)`;
  const printed = execFileSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8' });
  expect(Number(printed)).toBeGreaterThan(3);
  rmSync(folder, { recursive: true });
});

describe('deploy/version', () => {
  const name = (what: string, env: Record<string, string>) =>
    execFileSync(path.join(root, 'deploy/version'), [what], { encoding: 'utf8', env: { ...process.env, ...env } }).trim();

  test('names an image, a package and the commit', () => {
    const env = { REVISION: 'abcdef0', REVISION_TIME: '1763337600' };
    expect(['image', 'deb', 'commit'].map((what) => name(what, env))).toEqual([
      `${version}-abcdef0`,
      `${version}+20251117000000.abcdef0`,
      'abcdef0',
    ]);
  });

  test('knows the commit of a checkout', () => {
    expect(name('commit', { REVISION: '' })).toMatch(/^[0-9a-f]{7,}(-dirty)?$/);
  });

  test('of a folder without git says the version alone', () => {
    const folder = copyOf('deploy/version', 'service/package.json');
    const printed = ['image', 'deb', 'commit'].map((what) =>
      execFileSync(path.join(folder, 'deploy/version'), [what], { encoding: 'utf8' }),
    );
    expect(printed).toEqual([`${version}\n`, `${version}\n`, '\n']);
    rmSync(folder, { recursive: true });
  });
});

test('deploy/image/pin adds the digest of every public image once', () => {
  const folder = copyOf('deploy/image/pin', 'Dockerfile', 'compose.yaml');
  const digest = `sha256:${'1'.repeat(64)}`;
  // In place of the registry, which no test reaches.
  writeFileSync(path.join(folder, 'skopeo'), `#!/bin/sh\necho ${digest}\n`, { mode: 0o755 });
  const pin = () =>
    execFileSync(path.join(folder, 'deploy/image/pin'), { encoding: 'utf8', env: { PATH: `${folder}:${process.env['PATH']}` } });
  const public_ = Object.values(compose.services).filter(({ image }) => !image.includes('homeward:')).length;
  expect(pin().trim().split('\n')).toHaveLength(public_ + 1);
  const files = ['Dockerfile', 'compose.yaml'].map((file) => readFileSync(path.join(folder, file), 'utf8'));
  expect(files[0]).toContain(`-bookworm-slim@${digest} AS node`);
  expect(files[1]?.match(new RegExp(`@${digest}}`, 'g'))).toHaveLength(public_);
  expect(files[1]).toContain(`homeward:${version}}`);
  expect(pin()).toBe('');
  rmSync(folder, { recursive: true });
});

test.each(['deploy/haproxy/haproxy.cfg', 'deploy/nginx/homeward.conf'])(
  '%s keeps every kind of link to the console out of its log',
  (file) => {
    const kinds = new Set(Object.values(linkPaths).map((link) => link.split('/')[1]));
    expect(read(file)).toContain(`(${[...kinds].join('|')})/`);
  },
);

describe('The time to shut down', () => {
  test('of a service in compose is longer than drain and closing', () => {
    const { environment, stop_grace_period } = compose.services['api-1'] ?? {};
    expect(Number.parseInt(stop_grace_period ?? '', 10)).toBeGreaterThan(Number(environment?.['HOMEWARD_DRAIN_MS']) / 1_000 + closeSeconds);
  });

  test('of a pod is longer than drain and closing', () => {
    const drainMs = /HOMEWARD_DRAIN_MS=(\d+)/.exec(read('deploy/kubernetes/base/kustomization.yaml'))?.[1];
    for (const name of ['api', 'console']) {
      const [deployment] = parseAllDocuments(read(`deploy/kubernetes/base/${name}.yaml`)).map((document) => document.toJS());
      expect(deployment.spec.template.spec.terminationGracePeriodSeconds).toBeGreaterThan(Number(drainMs) / 1_000 + closeSeconds);
    }
  });

  test('of a unit is longer than drain and closing', () => {
    const drainMs = /^HOMEWARD_DRAIN_MS=(\d+)$/m.exec(read('deploy/systemd/homeward.env'))?.[1];
    for (const unit of ['homeward-api@', 'homeward-console']) {
      const stopSeconds = /^TimeoutStopSec=(\d+)$/m.exec(read(`deploy/systemd/${unit}.service`))?.[1];
      expect(Number(stopSeconds)).toBeGreaterThan(Number(drainMs) / 1_000 + closeSeconds);
    }
  });
});

test('deploy/systemd/homeward.env sets and suggests only variables that exist', () => {
  const names = [...read('deploy/systemd/homeward.env').matchAll(/^#?([A-Z_]+)=/gm)].map(([, name = '']) => name);
  expect(names.length).toBeGreaterThan(3);
  expect(names.filter((name) => !isVariable(name))).toEqual([]);
});

/** Some files of the project in a folder of their own. */
function copyOf(...files: readonly string[]): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'homeward-files-'));
  for (const file of files) cpSync(path.join(root, file), path.join(folder, file));
  return folder;
}

function isVariable(name: string): boolean {
  return Object.hasOwn(variables, name);
}
