import type { ListEventsData, OrderEvent, PetEvent } from './api-types.gen.ts';
import { ConnectionError, HomewardError, isPassing } from './errors.ts';
import { parseJson } from './json.ts';
import type { CallOptions, Transport } from './transport.ts';
import { backoffMs, sleep } from './waiting.ts';

/** A change, and the cursor to go on from once it is handled. */
export type FeedEvent = (PetEvent | OrderEvent) & { readonly cursor: string };

export interface FollowOptions extends CallOptions {
  /** The cursor of the last event that was handled; 'latest': what happens from now on; without one, the oldest event kept. */
  readonly cursor?: string;
  readonly type?: NonNullable<ListEventsData['query']>['type'];
}

/** A stream has a sign of life every 15 s. */
const silenceMs = 30_000;
const frameCharsMax = 1_000_000;

/**
 * Every event, as it happens, until the signal or the loop ends it. A lost connection, a restart of the store or a limit is
 * waited out, and the feed is read on from where it was. What does not pass, such as `cursor_expired`, is thrown.
 */
export async function* followFeed(transport: Transport, { cursor, type, signal }: FollowOptions): AsyncGenerator<FeedEvent> {
  let at = cursor;
  for (let failures = 0; ; failures += 1) {
    const ending = new AbortController();
    const both = signal ? AbortSignal.any([signal, ending.signal]) : ending.signal;
    try {
      const query = { cursor: at, type };
      const response = await transport.open({ url: '/events', query, headers: { accept: 'text/event-stream' }, options: { signal: both } });
      for await (const { id, data } of readFrames(response)) {
        signal?.throwIfAborted();
        failures = 0;
        at = id ?? at;
        if (data) yield { ...(parseJson(data) as PetEvent | OrderEvent), cursor: at ?? '' };
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (!isPassing(error)) throw error;
      const seconds = error instanceof HomewardError ? (error.retryAfterSeconds ?? 0) : 0;
      await sleep(Math.max(backoffMs(failures), seconds * 1_000), signal);
    } finally {
      // Also where the loop that reads this was left.
      ending.abort();
    }
  }
}

interface Frame {
  readonly id: string | undefined;
  readonly data: string | undefined;
}

/** Server-sent events as a store sends them: one line of data each. */
async function* readFrames(response: Response): AsyncGenerator<Frame> {
  if (!response.body) return;
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  for (;;) {
    const chunk = await withinSilence(reader.read());
    if (chunk.done) return;
    rest += decoder.decode(chunk.value, { stream: true });
    const frames = rest.split('\n\n');
    rest = frames.pop() ?? '';
    if (rest.length > frameCharsMax) throw new ConnectionError('The stream is not one of events.');
    for (const frame of frames) yield { id: fieldOf(frame, 'id'), data: fieldOf(frame, 'data') };
  }
}

const fieldOf = (frame: string, name: string): string | undefined => {
  const line = frame.split('\n').find((one) => one.startsWith(`${name}:`));
  return line?.slice(name.length + 1).trimStart();
};

async function withinSilence<T>(read: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new ConnectionError(`The stream was silent for ${silenceMs} ms.`)), silenceMs);
  });
  try {
    return await Promise.race([read, silence]);
  } catch (cause) {
    throw cause instanceof ConnectionError ? cause : new ConnectionError('The stream was lost.', { cause });
  } finally {
    clearTimeout(timer);
  }
}
