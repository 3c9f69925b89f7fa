import type { FastifyReply } from 'fastify';
import { Type } from 'typebox';
import { callerOf, operation, sendJson } from '../../access/admission/admission-hook.ts';
import type { KeyWatch } from '../../access/clients/client-changes.ts';
import type { KeyCaller } from '../../access/principals/principals.ts';
import { visibilityOf } from '../../domain/actor.ts';
import { type EventType, mayReadPrivateEvents, wantsAll } from '../../domain/event-types.ts';
import { scopesInWords } from '../../domain/scopes.ts';
import { FairTurns } from '../../platform/bounded/fair-turns.ts';
import type { Db } from '../../platform/db/handles.ts';
import { addLink, linkToNext, readCursor, sizeDefault, writeCursor } from '../../platform/http/paging.ts';
import { type EventStream, type EventStreams, eventText } from '../../platform/http/protocol/event-stream.ts';
import { type Api, etagHeader, jsonResponse, notModified } from '../../platform/http/schemas.ts';
import { AnyEvent, type ListEvents, ListEventsQuery } from './event-schemas.ts';
import {
  type EventFilter,
  type EventPage,
  type EventRow,
  type EventTail,
  eventJson,
  eventRetentionDays,
  matches,
  readEnd,
  readEvents,
  span,
} from './events.ts';

interface Parts {
  readonly db: Db;
  readonly tail: EventTail;
  readonly streams: EventStreams;
  readonly keyWatch: KeyWatch;
  /** Charges one request to a client. Returns 0 if it is admitted, else the milliseconds to wait. */
  charge(payer: Payer): Promise<number>;
  /** The current quota of the client's plan. */
  readQuota(clientId: bigint): Promise<Payer['quota']>;
}

type Payer = Pick<KeyCaller, 'clientId' | 'quota'>;

const path = '/v1/events';
const catchUpSize = 100;
/**
 * How often a client without requests left is charged again: its plan may change, or Redis may lose its counts, before the window
 * ends.
 */
const retryChargeMs = 2_000;
/** Spreads the streams that continue when a new window starts. */
const jitterMs = 1_000;
/** A client's plan says how many of its streams catch up at once, and how many streams it has. */
const unbounded = Number.POSITIVE_INFINITY;
/** A value of the cursor parameter: starts at the end of the feed. */
const latest = 'latest';

const page = jsonResponse('A page of events, or a stream of events.', Type.Array(AnyEvent), {
  Link: { type: 'string', description: 'The next page, as rel="next". Every page has it; streams do not.' },
  ...etagHeader,
});
const stream = {
  schema: Type.String({ description: 'Server-sent events: `id` is the cursor, `event` the event type, and `data` the event as JSON.' }),
};
const pageOrStream = { ...page, content: { ...page.content, 'text/event-stream': stream } };

/** For readers of the API. */
const aboutEvents = [
  "Returns a page of events about animals and, with the scope orders:read, about this client's own orders, oldest first.",
  `With the scope ${scopesInWords('seeOrders', 'own shelter')} it also has the orders for animals of the key's shelter.`,
  'The Link header always leads to the next page, even if that page is still empty: poll it for new events.',
  `With shelterId or categoryId a page looks through at most ${span.toLocaleString('en')} events and may be empty before the end: follow its Link.`,
  'At the end the Link is that of the request.',
  'An event of an animal that moved counts for both shelters, one of an animal whose category changed for both categories.',
  `Events are kept for ${eventRetentionDays} days; an older cursor returns 410, so no event is skipped silently.`,
  `With \`Accept: text/event-stream\` the response is a stream of server-sent events that starts after \`Last-Event-ID\` or the cursor.`,
  `Each further page that a stream reads to catch up, of ${catchUpSize} events or of those that it looks through, counts as a request.`,
  'If the client has no requests left, the stream pauses until the window ends.',
];

export function eventRoutes(api: Api, { db, tail, streams, keyWatch, charge, readQuota }: Parts): void {
  const catchUps = new FairTurns({ turnsMax: unbounded, turnsOfOwnerMax: unbounded, pendingOfOwnerMax: unbounded });

  api.get(
    '/events',
    operation({
      scope: 'pets:read',
      operationId: 'listEvents',
      tags: ['Events'],
      summary: 'Read the feed of changes',
      description: aboutEvents.join(' '),
      'x-stability': 'experimental',
      querystring: ListEventsQuery,
      headers: Type.Object({
        'last-event-id': Type.Optional(Type.String({ description: 'For a stream: the id of the last event received.' })),
      }),
      response: { 200: pageOrStream, 304: notModified },
      errors: ['cursor_expired'],
    }),
    async (request, reply) => {
      const { query, headers, method } = request;
      const caller = callerOf(request);
      const interests = { shelterIds: query.shelterId ?? [], categoryIds: query.categoryId ?? [] };
      const filter = { type: query.type as EventType | undefined, orders: visibleOrders(caller), interests };
      if (method === 'HEAD' || !/\btext\/event-stream\b/.test(headers.accept ?? '')) return sendPage(reply, query, filter);
      // A reader that reconnects still sends the cursor of its first request, so Last-Event-ID has priority.
      const cursor = headers['last-event-id'] || query.cursor;
      const isFromEnd = !headers['last-event-id'] && cursor === latest;
      const page = await (isFromEnd ? readEnd(db) : readEvents(db, filter, { after: positionAt(cursor), limit: catchUpSize }));
      const stream = streams.open(reply, caller);
      stream.onClose(keyWatch.follow((ended) => ended.has(caller.keyId) && stream.close()));
      follow(stream, filter, page, caller);
      // Sends a cursor, so that the reader can reconnect before the first event.
      if (isFromEnd || (page.events.length === 0 && !wantsAll(interests))) stream.sendHeartbeat();
      return reply;
    },
  );

  async function sendPage(
    reply: FastifyReply,
    { type, shelterId, categoryId, limit = sizeDefault, cursor }: ListEvents,
    filter: EventFilter,
  ) {
    const { events, nextAfter } = await (cursor === latest ? readEnd(db) : readEvents(db, filter, { after: positionAt(cursor), limit }));
    addLink(
      reply,
      linkToNext(path, {
        limit,
        filters: { type, shelterId: shelterId?.map(String), categoryId: categoryId?.map(String) },
        cursor: cursorAt(nextAfter),
      }),
    );
    const body = `[${events.map(eventJson).join(',')}]`;
    return sendJson(reply, body);
  }

  /**
   * Sends the first page, and then every event that follows it.
   *
   * State: everything up to `position` has been sent. `end` is the position that the tail has reached. The tail calls the listener
   * with the events after `from` up to `to`.
   *
   * - Live: `from <= position`. The events of the tail are sent directly.
   * - Catching up: there is a gap between `position` and `from`, or the stream's buffer is full. Events of the tail are not sent;
   *   the stream reads pages from the database until `position` reaches `end`, which grows meanwhile.
   *
   * Invariant: when catching up ends, `position` has reached `end`, so the next call of the listener leaves no gap.
   */
  function follow(stream: EventStream, filter: EventFilter, first: EventPage, caller: KeyCaller): void {
    let position = first.nextAfter;
    let end = position;
    let isCatchingUp = false;
    let { quota } = caller;
    const send = (events: readonly EventRow[], to: bigint) => {
      stream.send(events.map(streamTextOf).join(''), () => cursorAt(to));
      position = to;
    };
    const readPaidPage = async () => {
      // Without requests left the stream pauses; it is not closed.
      for (;;) {
        const waitMs = await charge({ clientId: caller.clientId, quota });
        if (waitMs === 0) break;
        await stream.sleep(Math.min(waitMs + Math.random() * jitterMs, retryChargeMs));
        if (!stream.isOpen) return;
        quota = await readQuota(caller.clientId);
      }
      const page = await readEvents(db, filter, { after: position, limit: catchUpSize });
      send(page.events, page.nextAfter);
      // So that a reader who reconnects need not pay for these events again.
      if (page.events.length === 0) stream.sendHeartbeat();
    };
    const catchUp = async () => {
      isCatchingUp = true;
      const closed = new AbortController();
      const ignoreClose = stream.onClose(() => closed.abort());
      try {
        await stream.drained();
        const options = { signal: closed.signal, ofOwnerMax: caller.bounds.catchUps };
        using _turn = await stream.keepOpenDuring(() => catchUps.take(caller.clientId, options));
        while (stream.isOpen && position < end) {
          await stream.keepOpenDuring(readPaidPage);
          await stream.drained();
        }
      } finally {
        ignoreClose();
        isCatchingUp = false;
      }
    };
    const unfollow = tail.follow(({ events, from, to, isLost }) => {
      end = to;
      // Its reader reconnects, and learns that what it has got last is lost. A stream that is behind learns it from the page it reads.
      if (isLost && (from <= position || to < position)) return stream.close();
      if (isCatchingUp || to <= position) return;
      // If catching up fails, close the stream: the reader reconnects and gets the error.
      if (position < from || stream.isFull) catchUp().catch(() => stream.close());
      else
        send(
          events.filter((event) => event.position > position && matches(event, filter)),
          to,
        );
    });
    stream.onClose(unfollow);
    send(first.events, first.nextAfter);
  }
}

// A position is the same for every filter, so the cursor is not bound to filters.
const cursorAt = (position: bigint) => writeCursor(position, {});
const positionAt = (cursor: string | undefined) => (cursor === undefined ? undefined : readCursor(cursor, {}));

const streamTexts = new WeakMap<EventRow, string>();

/** Serialized once for all streams. */
function streamTextOf(event: EventRow): string {
  const known = streamTexts.get(event);
  if (known !== undefined) return known;
  const text = eventText(cursorAt(event.position), event.type, eventJson(event));
  streamTexts.set(event, text);
  return text;
}

const visibleOrders = (caller: KeyCaller): EventFilter['orders'] => (mayReadPrivateEvents(caller.scopes) ? visibilityOf(caller) : 'none');
