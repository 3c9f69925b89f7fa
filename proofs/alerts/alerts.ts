// Every alert is seen firing for the fault that it is for, and every expression of the dashboard has a result, under a real Prometheus.
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { runCommand } from '../../tools/command.ts';
import { rows } from '../../tools/dashboard.ts';
import type { Claim, Proof, ProofContext } from '../proof.ts';
import { type Fault, faults } from './faults.ts';
import { WatchedStore } from './watched-store.ts';

const fireTimeoutMs = 180_000;
const clearTimeoutMs = 180_000;
const symptoms: ReadonlySet<string> = new Set(['HomewardErrors', 'HomewardSlow']);
const rateInterval = '10s';

export const alerts: Proof = {
  name: 'alerts',
  promise: 'each alert fires for the fault that it is for and for no other, and each panel of the dashboard shows something',
  runsAlone: true,
  run,
};

async function run({ short, progress }: ProofContext): Promise<Claim[]> {
  progress('rules');
  const rules = await claimRules();
  await using watched = await WatchedStore.open();
  progress('a store without a fault');
  const claims = [rules, await claimDashboard(watched), await claimQuiet(watched)];
  const chosen = faults.filter(({ isQuick }) => !short || isQuick);
  for (const fault of chosen) {
    progress(fault.name);
    claims.push(await claimFault(watched, fault));
  }
  if (!short) claims.push(claimComplete());
  return claims;
}

async function claimRules(): Promise<Claim> {
  const check = await runCommand('promtool', ['check', 'rules', 'deploy/prometheus/alerts.yml'], { timeoutMs: 30_000 });
  const test = await runCommand('promtool', ['test', 'rules', 'deploy/prometheus/alerts.test.yml'], { timeoutMs: 60_000 });
  const failed = [check, test].filter(({ status }) => status !== 0);
  return {
    claim: 'promtool accepts the rules, and their tests pass',
    bar: 'both',
    figure: failed.length === 0 ? 'both' : failed.map(({ output }) => output).join('\n'),
    holds: failed.length === 0,
  };
}

async function claimDashboard({ prometheus, waitFor }: WatchedStore): Promise<Claim> {
  const expressions = rows.flatMap(({ panels }) => panels.flatMap(({ queries }) => queries.map(({ expr }) => expr)));
  const isEmpty = async (expression: string) => {
    const samples = await prometheus.query(expression.replaceAll('$__rate_interval', rateInterval));
    return !samples.some(({ value: [, value] }) => value !== 'NaN');
  };
  let empty = expressions;
  // A worker reads some facts every 15 s, and a rate needs two scrapes.
  await waitFor(async () => {
    const still = await Promise.all(empty.map(isEmpty));
    empty = empty.filter((_, i) => still[i]);
    return empty.length === 0;
  }, fireTimeoutMs);
  return {
    claim: 'expressions of the dashboard that have a result',
    bar: `${expressions.length} of ${expressions.length}`,
    figure: `${expressions.length - empty.length}${empty.length > 0 ? `; none: ${empty.join(' and ')}` : ''}`,
    holds: empty.length === 0,
  };
}

async function claimQuiet({ prometheus }: WatchedStore): Promise<Claim> {
  const firing = [...(await prometheus.firing())];
  return { claim: 'alerts that fire without a fault', bar: 'none', figure: firing.join(', ') || 'none', holds: firing.length === 0 };
}

async function claimFault(watched: WatchedStore, { alert, name, symptom, cause }: Fault): Promise<Claim> {
  const { prometheus } = watched;
  const seen = new Set<string>();
  const note = async () => {
    for (const one of await prometheus.firing()) seen.add(one);
  };
  const startedAtMs = performance.now();
  const fault = await cause(watched);
  const wanted = [alert, ...(symptom ? [symptom] : [])];
  const hasFired = async () => {
    await note();
    return wanted.every((one) => seen.has(one));
  };
  const fired = await watched.waitFor(hasFired, fireTimeoutMs);
  const seconds = (performance.now() - startedAtMs) / 1_000;
  await fault[Symbol.asyncDispose]();
  const hasCleared = async () => {
    await note();
    return (await prometheus.firing()).size === 0;
  };
  const cleared = await watched.waitFor(hasCleared, clearTimeoutMs);
  const others = [...seen].filter((one) => one !== alert && !symptoms.has(one));
  return {
    claim: `${name}: fires`,
    bar: `${wanted.join(' and ')}, no other cause, and ends with the fault`,
    figure: `${[...seen].join(', ') || 'nothing'}, after ${seconds.toFixed(0)} s${cleared ? '' : ', and did not end'}`,
    holds: fired && cleared && others.length === 0,
    isTimed: others.length === 0,
  };
}

/** An alert without a fault would be one that nobody has seen. */
function claimComplete(): Claim {
  const { groups } = parse(readFileSync('deploy/prometheus/alerts.yml', 'utf8')) as { groups: Array<{ rules: Array<{ alert: string }> }> };
  const all = groups.flatMap(({ rules }) => rules.map(({ alert }) => alert));
  const shown = new Set(faults.flatMap(({ alert, symptom }) => [alert, symptom]));
  const missing = all.filter((alert) => !shown.has(alert));
  return {
    claim: 'alerts that have a fault here',
    bar: `all ${all.length}`,
    figure: missing.join(', ') || 'all',
    holds: missing.length === 0,
  };
}
