import type { Db } from '../../platform/db/handles.ts';
import { selectTroubledEndpoints, selectWork, type TroubledEndpoint, type Work } from './doctor-queries.ts';
import { broken, counted, duration, type Finding, findingOf, guarded, type Judgement, note, ok, skipped, warning } from './finding.ts';

const expiryLateSecondsMax = 10;
const feedLateSecondsMax = 10;
const feedBrokenSeconds = 60;
const unpublishedMax = 10_000;
/** The worker tries a failing endpoint more often than that, so it was not one hiccup. */
const failingSecondsMin = 600;
const disabledDaysMax = 7;
/** The worker creates partitions three months ahead. */
const partitionDaysMin = 30;
const shownMax = 3;

/** Whether the background work is done, and the partners get it. */
export async function workChecks(db: Db): Promise<Finding[]> {
  const work = await guarded('worker', async () => judgeWork(await selectWork(db, unpublishedMax)));
  // One query is the source of both.
  const feed = work.some(({ check }) => check === 'feed') ? [] : [skipped('feed', 'the state of the worker is not known.')];
  const endpoints = await guarded('endpoints', async () => judgeEndpoints(await selectTroubledEndpoints(db, disabledDaysMax)));
  return [...work, ...feed, ...endpoints];
}

export function judgeWork({ workers, expiryLateSeconds, historyDaysLeft, auditDaysLeft, ...feed }: Work): Judgement[] {
  if (workers === 0) {
    const found = 'No worker is running: events are not published, webhooks are not sent, and expired orders keep their animals.';
    return [broken(found, "Start 'homeward worker'."), skipped('feed', 'no worker is running.')];
  }
  const running = `${counted(workers, 'worker')} ${workers === 1 ? 'is' : 'are'} running`;
  const lookAtLog = "Look at the worker's log for 'job failed'.";
  const late = expiryLateSeconds ?? 0;
  const worker =
    late > expiryLateSecondsMax
      ? broken(`${running}, but an order that expired ${duration(late)} ago still reserves its animal.`, lookAtLog)
      : (judgeMonths({ historyDaysLeft, auditDaysLeft }, running, lookAtLog) ?? ok(`${running}.`));
  return [worker, findingOf('feed', judgeFeed(feed, lookAtLog))];
}

type Months = Pick<Work, 'historyDaysLeft' | 'auditDaysLeft'>;

/** Undefined: those of the coming weeks are there. */
function judgeMonths({ historyDaysLeft, auditDaysLeft }: Months, running: string, lookAtLog: string): Judgement | undefined {
  if (historyDaysLeft < partitionDaysMin)
    return warning(
      `${running}, but the history has partitions for ${counted(historyDaysLeft, 'day')} only; after that, nothing can be written.`,
      `As the owner: select make_history_partitions(). The worker does it every hour: ${lookAtLog}`,
    );
  if ((auditDaysLeft ?? 0) < partitionDaysMin)
    return warning(
      `${running}, but the audit has partitions for ${counted(auditDaysLeft ?? 0, 'day')} only; after that, rights, limits and shelters can't be changed.`,
      `As the owner: select make_audit_partitions(). The worker does it every hour: ${lookAtLog}`,
    );
  return undefined;
}

function judgeFeed(
  { feedLateSeconds, unpublished, hasPartition, detachedPartition }: Omit<Work, 'workers' | 'expiryLateSeconds' | keyof Months>,
  lookAtLog: string,
): Judgement {
  if (detachedPartition) {
    const found = `The table ${detachedPartition}, for the events of today, is not a partition of events any more: no event can be published.`;
    const day = detachedPartition.slice(-8);
    const fix = `As the owner: alter table events attach partition ${detachedPartition} for values from ('${day} 00:00Z') to (timestamptz '${day} 00:00Z' + interval '1 day').`;
    return broken(found, fix);
  }
  if (!hasPartition) {
    const fix = 'As the owner: select make_event_partitions(). The worker does it every hour: look at its log.';
    return broken('The feed has no partition for today, so that no event can be published.', fix);
  }
  const late = feedLateSeconds ?? 0;
  const found = `${unpublished >= unpublishedMax ? 'At least ' : ''}${counted(unpublished, 'event')} not published yet, the oldest ${duration(late)} old.`;
  if (late > feedBrokenSeconds) return broken(found, lookAtLog);
  if (late > feedLateSecondsMax) return warning(found, `If it grows: ${lookAtLog}`);
  return ok(unpublished === 0 ? 'Every event is published.' : found);
}

export function judgeEndpoints(troubled: readonly TroubledEndpoint[]): Judgement[] {
  const failing = troubled.filter(({ isEnabled, seconds }) => isEnabled && seconds >= failingSecondsMin);
  const disabled = troubled.filter(({ isEnabled }) => !isEnabled);
  const findings: Judgement[] = [];
  if (failing.length > 0) {
    const list = failing.slice(0, shownMax).map(({ id, client, seconds }) => `${id} of client ${client}, for ${duration(seconds)}`);
    const rest = failing.length > shownMax ? `; and ${failing.length - shownMax} more` : '';
    const fix = "Tell these partners: 'homeward webhooks list' shows the addresses, and the API each attempt.";
    findings.push(warning(`${counted(failing.length, 'endpoint')} failing: ${list.join('; ')}${rest}.`, fix));
  }
  if (disabled.length > 0) {
    const list = disabled.slice(0, shownMax).map(({ id, client, reason }) => `${id} of client ${client} (${reason ?? 'no reason'})`);
    const rest = disabled.length > shownMax ? `; and ${disabled.length - shownMax} more` : '';
    const fix = 'Its partner can enable it again, and replay what was missed.';
    findings.push(
      note(`${counted(disabled.length, 'endpoint')} disabled in the last ${disabledDaysMax} days: ${list.join('; ')}${rest}.`, fix),
    );
  }
  return findings.length > 0 ? findings : [ok(`No endpoint has been failing for ${duration(failingSecondsMin)} or more.`)];
}
