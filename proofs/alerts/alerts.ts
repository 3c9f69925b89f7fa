// Every alert is seen firing for the fault that it is for, and none that wakes somebody up in a quiet night; and every expression of the
// dashboard has a result: under a real Prometheus and a real Alertmanager.
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { runCommand } from '../../tools/command.ts';
import { rows } from '../../tools/dashboard.ts';
import type { Claim, Proof, ProofContext } from '../proof.ts';
import { type Fault, faults } from './faults.ts';
import { runbooksUrl } from './prometheus.ts';
import { type QuietNight, quietNights } from './quiet-nights.ts';
import { WatchedStore } from './watched-store.ts';

const fireTimeoutMs = 180_000;
const clearTimeoutMs = 180_000;
const messageTimeoutMs = 30_000;
const symptoms: ReadonlySet<string> = new Set(['HomewardErrors', 'HomewardSlow']);
/** Longer than any page takes to fire: 10 minutes, divided by the haste of the rules. */
const nightMs = 60_000;
const quietPart = 'quiet-nights';
const rateInterval = '10s';

export const alerts: Proof = {
  name: 'alerts',
  promise:
    'each alert fires for the fault that it is for and for no other, nobody is woken up in a quiet night, and each panel of the dashboard shows something',
  runsAlone: true,
  parts: [...faults.map(({ alert }) => alert), quietPart],
  isNightly: true,
  about: ['deploy/prometheus', 'service/src/operations/telemetry', 'proofs/alerts'],
  run,
};

async function run({ short, parts, progress }: ProofContext): Promise<Claim[]> {
  await using watched = await WatchedStore.open({ processes: short ? 2 : 4, isComplete: !short });
  progress('the rules, and a store without a fault');
  const isChosen = (part: string) => parts.length === 0 || parts.includes(part);
  // The worker's figures take their time.
  const claims = await Promise.all([claimRules(), claimDashboard(watched)]);
  claims.push(await claimQuiet(watched));
  if (!short && isChosen(quietPart)) {
    for (const night of quietNights) {
      progress(night.name);
      claims.push(await claimNight(watched, night));
    }
  }
  for (const fault of faults.filter(({ alert, isQuick }) => (!short || isQuick) && isChosen(alert))) {
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

async function claimNight(watched: WatchedStore, { name, pass }: QuietNight): Promise<Claim> {
  const { prometheus, alertmanager } = watched;
  const messagesBefore = alertmanager?.received.length ?? 0;
  const startedAtMs = performance.now();
  await pass(watched, startedAtMs + nightMs);
  const hasCleared = async () => (await prometheus.firing()).size === 0;
  await watched.waitFor(hasCleared, clearTimeoutMs);
  const seconds = (performance.now() - startedAtMs) / 1_000;
  const pages = await prometheus.firedWithin(seconds, 'page');
  const tickets = await prometheus.firedWithin(seconds, 'ticket');
  const messages = (alertmanager?.received.slice(messagesBefore) ?? []).filter(({ receiver }) => receiver === 'pages');
  return {
    claim: `Quiet night, ${name}: who is woken up`,
    bar: 'nobody: 0 pages fire, 0 messages',
    figure: `${pages.length} pages${pages.length > 0 ? ` (${pages.join(', ')})` : ''}, ${messages.length} messages; tickets: ${tickets.join(', ') || 'none'}`,
    holds: pages.length === 0 && messages.length === 0,
    isTimed: true,
  };
}

async function claimFault(watched: WatchedStore, { alert, name, symptom, cause }: Fault): Promise<Claim> {
  const { prometheus, alertmanager } = watched;
  const messagesBefore = alertmanager?.received.length ?? 0;
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
  const messageOf = () => alertmanager?.received.slice(messagesBefore).find((one) => one.alert === alert);
  if (alertmanager && fired) await watched.waitFor(async () => messageOf() !== undefined, messageTimeoutMs);
  const message = messageOf();
  await fault[Symbol.asyncDispose]();
  const hasCleared = async () => {
    await note();
    return (await prometheus.firing()).size === 0;
  };
  const cleared = await watched.waitFor(hasCleared, clearTimeoutMs);
  const others = [...seen].filter((one) => one !== alert && !symptoms.has(one));
  const isTold =
    !alertmanager || (message?.receiver === `${message?.severity}s` && message.runbook === `${runbooksUrl}#${alert.toLowerCase()}`);
  return {
    claim: `${name}: fires`,
    bar: `${wanted.join(' and ')}, no other cause, ends with the fault${alertmanager ? ', and a message with the link to its runbook' : ''}`,
    figure: `${[...seen].join(', ') || 'nothing'}, after ${seconds.toFixed(0)} s${cleared ? '' : ', and did not end'}${alertmanager ? `; ${message ? `a message to ${message.receiver}` : 'no message'}` : ''}`,
    holds: fired && cleared && others.length === 0 && isTold,
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
