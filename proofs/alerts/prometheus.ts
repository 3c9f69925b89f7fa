// A real Prometheus with the alerts of deploy/prometheus, whose times are shortened.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parse, stringify } from 'yaml';
import { freePort } from '../../testkit/servers.ts';
import { temporaryFolder } from '../../testkit/temporary-folder.ts';
import { startMonitor } from './monitor.ts';

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
}

interface RuleFile {
  readonly groups: ReadonlyArray<{ readonly name: string; readonly rules: readonly Rule[] }>;
}

export interface Target {
  readonly job: string;
  readonly port: number;
}

export interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [number, string];
}

/** Times of the rules are divided by this. Prometheus scrapes every second instead of every 15. */
export const haste = 12;
/** Unlike all others, they are about an age, which a worker reads every 15 s. */
const unhurried: Readonly<Record<string, { readonly for: string; readonly from: string; readonly to: string }>> = {
  HomewardEventsLate: { for: '20s', from: '> 60', to: '> 20' },
  HomewardMailLate: { for: '20s', from: '> 900', to: '> 20' },
  HomewardPhotosLate: { for: '20s', from: '> 900', to: '> 20' },
};
/** A process starts as slowly as ever, so what it may take is divided less where restarts are tried. */
const slowStarts: ReadonlySet<string> = new Set(['HomewardApiDown', 'HomewardWorkerDown', 'HomewardConsoleDown', 'HomewardPostgresDown']);
const startFor = '20s';
const rulesFile = 'deploy/prometheus/alerts.yml';
const unitMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 };

export const runbooksUrl = 'https://wiki.example/homeward/runbooks.md';

export interface Watched {
  readonly targets: readonly Target[];
  /** Of file systems only this one is scraped; the others are those of this machine. */
  readonly mountpoint: string;
  /** Restarts are tried. */
  readonly hasRestarts: boolean;
  /** The address of Alertmanager; undefined: none. */
  readonly alertmanager: string | undefined;
}

export class Prometheus implements AsyncDisposable {
  readonly #url: string;
  readonly #resources: AsyncDisposable;

  private constructor(url: string, resources: AsyncDisposable) {
    this.#url = url;
    this.#resources = resources;
  }

  static async start({ targets, mountpoint, hasRestarts, alertmanager }: Watched): Promise<Prometheus> {
    await using onFailure = new AsyncDisposableStack();
    const resources = onFailure.use(new AsyncDisposableStack());
    const { path: folder } = resources.use(temporaryFolder('prometheus'));
    const file = (name: string) => path.join(folder, name);
    const jobs = Object.entries(Object.groupBy(targets, ({ job }) => job));
    const config = {
      global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s', external_labels: { runbooks: runbooksUrl } },
      rule_files: [file('rules.yml')],
      ...(alertmanager && { alerting: { alertmanagers: [{ static_configs: [{ targets: [alertmanager] }] }] } }),
      scrape_configs: jobs.map(([job, ofJob = []]) => ({
        job_name: job,
        static_configs: [{ targets: ofJob.map(({ port }) => `127.0.0.1:${port}`) }],
        metric_relabel_configs: [{ source_labels: ['mountpoint'], regex: `|${mountpoint}`, action: 'keep' }],
      })),
    };
    writeFileSync(file('prometheus.yml'), stringify(config));
    writeFileSync(file('rules.yml'), stringify(hurried(parse(readFileSync(rulesFile, 'utf8')) as RuleFile, hasRestarts)));
    const url = `http://127.0.0.1:${await freePort()}`;
    const args = [
      `--config.file=${file('prometheus.yml')}`,
      `--storage.tsdb.path=${file('data')}`,
      `--web.listen-address=${url.slice('http://'.length)}`,
    ];
    resources.use(await startMonitor({ program: 'prometheus', args, readyUrl: `${url}/-/ready` }));
    onFailure.move();
    return new Prometheus(url, resources);
  }

  async query(expression: string): Promise<Sample[]> {
    const response = await fetch(`${this.#url}/api/v1/query?query=${encodeURIComponent(expression)}`);
    const { status, error, data } = (await response.json()) as { status: string; error?: string; data: { result: Sample[] } };
    if (status !== 'success') throw new Error(`${expression}: ${error}`);
    return data.result;
  }

  /** The names of the alerts that fire. */
  async firing(): Promise<Set<string>> {
    const samples = await this.query('ALERTS{alertstate="firing"}');
    return new Set(samples.map(({ metric }) => metric['alertname'] ?? ''));
  }

  /** Waits until the alert fires, or does not any more; false if that was not so in time. */
  async untilFiring(alert: string, isExpected: boolean, timeoutMs: number): Promise<boolean> {
    for (const deadlineMs = Date.now() + timeoutMs; Date.now() < deadlineMs; await sleep(250))
      if ((await this.firing()).has(alert) === isExpected) return true;
    return false;
  }

  /** The names of the alerts of this severity that have fired within the last so many seconds. */
  async firedWithin(seconds: number, severity: 'page' | 'ticket'): Promise<string[]> {
    const expression = `count by (alertname) (max_over_time(ALERTS{alertstate="firing",severity="${severity}"}[${Math.ceil(seconds)}s]))`;
    return (await this.query(expression)).map(({ metric }) => metric['alertname'] ?? '');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#resources[Symbol.asyncDispose]();
  }
}

function hurried({ groups }: RuleFile, hasRestarts: boolean): RuleFile {
  const hurry = (rule: Rule) => ({ ...hurriedRule(rule), ...(hasRestarts && slowStarts.has(rule.alert) && { for: startFor }) });
  return { groups: groups.map((group) => ({ ...group, rules: group.rules.map(hurry) })) };
}

function hurriedRule(rule: Rule): Rule {
  const own = unhurried[rule.alert];
  if (own) {
    if (!rule.expr.includes(own.from)) throw new Error(`${rule.alert} has no "${own.from}"`);
    return { ...rule, for: own.for, expr: rule.expr.replace(own.from, own.to) };
  }
  const shorter = (text: string) =>
    text.replace(/\b(\d+)([smh])\b/g, (_, count: string, unit: string) => `${Math.round((Number(count) * (unitMs[unit] ?? 0)) / haste)}ms`);
  const expr = rule.expr.replace(/\[\d+[smh]\]/g, shorter);
  return { ...rule, expr, ...(rule.for && { for: shorter(rule.for) }) };
}
