import type { ApplicationEvent, ListEventsData, OrderEvent, PetEvent } from './api-types.gen.ts';
import { backoffMs, sleep } from './backoff.ts';
import { ConnectionError, HomewardError, isRetryable } from './errors.ts';
import { parseJson } from './json.ts';
import type { CallOptions, Transport } from './transport.ts';

/** A change, with the cursor to resume from after you have handled it. */
export type FeedEvent = (PetEvent | OrderEvent | ApplicationEvent) & { readonly cursor: string };

type Filters = Omit<NonNullable<ListEventsData['query']>, 'cursor' | 'limit'>;

/** The filters are those of a page of events. */
export interface FollowOptions extends CallOptions, Filters {
  /** The cursor of the last event that you handled, or 'latest' for new events only. By default the feed starts at the oldest event. */
  readonly cursor?: string;
}

/** The store sends a heartbeat every 15 s. */
const idleTimeoutMs = 30_000;
const frameCharsMax = 1_000_000;

/**
 * Yields every event as it happens, until you abort the signal or leave the loop. After a lost connection, a restart of the
 * store or a rate limit, it waits and resumes where it was. Errors that a retry can't fix, such as `cursor_expired`, are thrown.
 */
export async function* followFeed(transport: Transport, { cursor, signal, ...filters }: FollowOptions): AsyncGenerator<FeedEvent> {
  let at = cursor;
  for (let failures = 0; ; failures += 1) {
    const ending = new AbortController();
    const both = signal ? AbortSignal.any([signal, ending.signal]) : ending.signal;
    try {
      const query = { cursor: at, ...filters };
      const response = await transport.open({ url: '/events', query, headers: { accept: 'text/event-stream' }, options: { signal: both } });
      for await (const { id, data } of readFrames(response)) {
        signal?.throwIfAborted();
        failures = 0;
        at = id ?? at;
        if (data) yield { ...(parseJson(data) as FeedEvent), cursor: at ?? '' };
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (!isRetryable(error)) throw error;
      const seconds = error instanceof HomewardError ? (error.retryAfterSeconds ?? 0) : 0;
      await sleep(Math.max(backoffMs(failures), seconds * 1_000), signal);
    } finally {
      // Also runs when the caller leaves its loop.
      ending.abort();
    }
  }
}

interface Frame {
  readonly id: string | undefined;
  readonly data: string | undefined;
}

/** Parses server-sent events as a store sends them: one data line each. */
async function* readFrames(response: Response): AsyncGenerator<Frame> {
  if (!response.body) return;
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  for (;;) {
    const chunk = await withIdleTimeout(reader.read());
    if (chunk.done) return;
    rest += decoder.decode(chunk.value, { stream: true });
    const frames = rest.split('\n\n');
    rest = frames.pop() ?? '';
    if (rest.length > frameCharsMax) throw new ConnectionError('The response is not an event stream.');
    for (const frame of frames) yield { id: fieldOf(frame, 'id'), data: fieldOf(frame, 'data') };
  }
}

const fieldOf = (frame: string, name: string): string | undefined => {
  const line = frame.split('\n').find((one) => one.startsWith(`${name}:`));
  return line?.slice(name.length + 1).trimStart();
};

async function withIdleTimeout<T>(read: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new ConnectionError(`The stream sent nothing for ${idleTimeoutMs} ms.`)), idleTimeoutMs);
  });
  try {
    return await Promise.race([read, timeout]);
  } catch (cause) {
    throw cause instanceof ConnectionError ? cause : new ConnectionError('The connection of the stream was lost.', { cause });
  } finally {
    clearTimeout(timer);
  }
}
