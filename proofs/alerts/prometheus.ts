// A real Prometheus with the alerts of deploy/prometheus, whose times are shortened.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parse, stringify } from 'yaml';
import { freePort } from '../../testkit/servers.ts';

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
const haste = 12;
/** Unlike all others, it is about a figure that a worker reads every 15 s. */
const unhurried: Readonly<Record<string, { readonly for: string; readonly from: string; readonly to: string }>> = {
  HomewardEventsLate: { for: '20s', from: '> 60', to: '> 20' },
};
const rulesFile = 'deploy/prometheus/alerts.yml';
const unitMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 };
const startTimeoutMs = 30_000;

export class Prometheus implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #url: string;
  readonly #folder: string;

  private constructor(child: ChildProcess, url: string, folder: string) {
    this.#child = child;
    this.#url = url;
    this.#folder = folder;
  }

  static async start(targets: readonly Target[]): Promise<Prometheus> {
    const folder = mkdtempSync(path.join(tmpdir(), 'homeward-prometheus-'));
    const file = (name: string) => path.join(folder, name);
    const jobs = Object.entries(Object.groupBy(targets, ({ job }) => job));
    const config = {
      global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
      rule_files: [file('rules.yml')],
      scrape_configs: jobs.map(([job, ofJob = []]) => ({
        job_name: job,
        static_configs: [{ targets: ofJob.map(({ port }) => `127.0.0.1:${port}`) }],
      })),
    };
    writeFileSync(file('prometheus.yml'), stringify(config));
    writeFileSync(file('rules.yml'), stringify(hurried(parse(readFileSync(rulesFile, 'utf8')) as RuleFile)));
    const port = await freePort();
    const args = [
      `--config.file=${file('prometheus.yml')}`,
      `--storage.tsdb.path=${file('data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ];
    const child = spawn('prometheus', args, { stdio: 'ignore' });
    const prometheus = new Prometheus(child, `http://127.0.0.1:${port}`, folder);
    const deadlineMs = Date.now() + startTimeoutMs;
    while (!(await prometheus.#isReady())) {
      if (Date.now() > deadlineMs || child.exitCode !== null) {
        await prometheus[Symbol.asyncDispose]();
        throw new Error("Prometheus did not start; is Debian's package 'prometheus' installed?");
      }
      await sleep(50);
    }
    return prometheus;
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

  async #isReady(): Promise<boolean> {
    return fetch(`${this.#url}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.pid && this.#child.exitCode === null) {
      const ended = once(this.#child, 'exit');
      this.#child.kill('SIGTERM');
      await ended;
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

export function hurried({ groups }: RuleFile): RuleFile {
  return { groups: groups.map((group) => ({ ...group, rules: group.rules.map(hurriedRule) })) };
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
