import { setTimeout as sleep } from 'node:timers/promises';
import { currentScreen, styled } from './output.ts';
import { cut, type Screen } from './table.ts';

/** What one round has found. `lines` is called again when the window changes its size. */
export interface Page {
  readonly title: string;
  lines(screen: Screen): readonly string[];
}

const usualHeight = 24;
const enter = '\x1b[?1049h\x1b[?25l';
const leave = '\x1b[?25h\x1b[?1049l';

/** Repeats the round, with a pause, until Ctrl-C, SIGTERM, or until nobody reads standard output any more. */
export async function watchRounds(intervalMs: number, round: () => Promise<void>): Promise<void> {
  const stopping = new AbortController();
  const stopped = new Promise<void>((resolve) => stopping.signal.addEventListener('abort', () => resolve()));
  const stop = () => stopping.abort();
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.once(signal, stop);
  process.stdout.on('error', stop);
  try {
    while (!stopping.signal.aborted) {
      await Promise.race([round(), stopped]);
      await sleep(intervalMs, undefined, { signal: stopping.signal }).catch(() => {});
    }
  } finally {
    for (const signal of signals) process.off(signal, stop);
  }
}

/** The same as a page in the terminal, on its second screen: what was there before is back at the end. */
export async function watchOnTerminal(intervalMs: number, round: () => Promise<Page>): Promise<void> {
  let page: Page = { title: 'homeward doctor: checking …', lines: () => [] };
  // A round that is not finished at the end must not draw on the first screen.
  let hasLeft = false;
  const draw = () => void (hasLeft || process.stdout.write(drawn(page, intervalMs)));
  process.stdout.write(enter);
  process.stdout.on('resize', draw);
  try {
    draw();
    await watchRounds(intervalMs, async () => {
      page = await round();
      draw();
    });
  } finally {
    hasLeft = true;
    process.stdout.off('resize', draw);
    process.stdout.write(leave);
  }
}

/** Overwrites in place, line by line: clearing first would flicker. */
function drawn({ title, lines }: Page, intervalMs: number): string {
  const screen = currentScreen();
  const height = process.stdout.rows || usualHeight;
  const head = cut(`${title} · ${new Date(screen.nowMs).toTimeString().slice(0, 8)}`, screen.widthMax);
  const hint = cut(`every ${intervalMs / 1_000} s · Ctrl-C leaves`, screen.widthMax);
  const body = lines(screen);
  const room = Math.max(height - 4, 1);
  const shown = body.length > room ? [...body.slice(0, room - 1), `… and ${body.length - room + 1} more lines`] : body;
  const all = [styled('bold', head, process.stdout), '', ...shown, '', styled('dim', hint, process.stdout)];
  return `\x1b[H${all.map((line) => `${line}\x1b[K`).join('\r\n')}\x1b[J`;
}
