import { Poller } from '../../platform/bounded/poller.ts';
import type { Db } from '../../platform/db/handles.ts';
import { type EventRow, readNewEvents } from './events.ts';

export interface TailPage {
  /** The events after `from` up to `to`. The listener got the events up to `from` before, or must read them itself. */
  readonly events: readonly EventRow[];
  readonly from: bigint;
  readonly to: bigint;
  /** The event at `from` is lost: a standby that lacked it has taken over. `to` is before `from`, or after the gap that this left. */
  readonly isLost: boolean;
}

export type EventTail = Poller<TailPage>;

const intervalMs = 100;
/** Bounds the events that a stream gets at once. */
const batchSizeMax = 100;

/** Polls the end of the feed for the streams of this process. The first poll only finds the end: listeners read up to it themselves. */
export const openEventTail = (db: Db, onError: (error: unknown) => void): EventTail =>
  new Poller<TailPage>({
    begin: () => {
      let position: bigint | undefined;
      return async () => {
        const { events, to, isLost } = await readNewEvents(db, position, batchSizeMax);
        const from = position ?? to;
        position = to;
        return { news: { events, from, to, isLost }, hasMore: events.length === batchSizeMax };
      };
    },
    intervalMs,
    onError,
  });
