const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
/** The clocks of this machine and of PostgreSQL may differ by this much. */
const nowMsMax = 5_000;
const daysMax = 60;

/** A time as people say it: "3 min ago", "in 2 h"; a date if it is more than two months away. */
export function relativeTime(at: Date, nowMs: number): string {
  const awayMs = Math.abs(at.getTime() - nowMs);
  if (awayMs < nowMsMax) return 'now';
  const days = Math.floor(awayMs / dayMs);
  if (days > daysMax) return at.toISOString().slice(0, 10);
  const amount = amountOf(awayMs, days);
  return at.getTime() < nowMs ? `${amount} ago` : `in ${amount}`;
}

function amountOf(ms: number, days: number): string {
  if (ms < minuteMs) return `${Math.floor(ms / 1_000)} s`;
  if (ms < hourMs) return `${Math.floor(ms / minuteMs)} min`;
  if (ms < dayMs) return `${Math.floor(ms / hourMs)} h`;
  return days === 1 ? '1 day' : `${days} days`;
}
