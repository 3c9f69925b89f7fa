import type { FastifyReply } from 'fastify';
import { Type } from 'typebox';
import type { Caller } from '../admission/admission.ts';
import { callerOf } from '../admission/admission-hook.ts';
import type { KeyWatch } from '../clients/key-watch.ts';
import type { Db } from '../db/handles.ts';
import type { EventType } from '../domain/event-types.ts';
import { visibilityOf } from '../domain/visibility.ts';
import { ClientTurns } from '../http/client-turns.ts';
import { type EventStream, type EventStreams, eventText } from '../http/event-stream.ts';
import { addLink, linkToNext, readCursor, sizeDefault, writeCursor } from '../http/paging.ts';
import { errorResponses, etagHeader, jsonResponse, notModified } from '../http/schemas.ts';
import type { Api } from '../http/type-provider.ts';
import { alreadySerialized } from '../idempotency/idempotent-route.ts';
import { eventJson } from './event-json.ts';
import { AnyEvent, type ListEvents, ListEventsQuery } from './event-schemas.ts';
import type { EventTail } from './event-tail.ts';
import { type EventFilter, type EventPage, type EventRow, matches, readEnd, readEvents, retentionDays } from './events.ts';

interface Parts {
  readonly db: Db;
  readonly tail: EventTail;
  readonly streams: EventStreams;
  readonly keyWatch: KeyWatch;
  /** Charges a client a request; returns the ms after which to ask again, 0 where it was admitted. */
  charge(payer: Payer): Promise<number>;
  /** What the client's plan allows now. */
  readQuota(clientId: bigint): Promise<Payer['quota']>;
}

type Payer = Pick<Caller, 'clientId' | 'quota'>;

const path = '/v1/events';
const catchUpSize = 100;
/** While a client has used up its requests: its plan may change, or Redis lose its counts, before the window ends. */
const askAgainMs = 2_000;
/** Not all streams go on in the instant in which a window begins. */
const jitterMs = 1_000;
/** In place of a cursor: begins at the end of the feed. */
const latest = 'latest';

const page = jsonResponse('A page of events, or a stream of events.', Type.Array(AnyEvent), {
  Link: { type: 'string', description: 'The next page, as rel="next". Every page has it; streams do not.' },
  ...etagHeader,
});
const stream = {
  schema: Type.String({ description: 'Server-sent events. Each has a cursor as id, the event type as event, and the event JSON as data.' }),
};
const pageOrStream = { ...page, content: { ...page.content, 'text/event-stream': stream } };

export function eventRoutes(api: Api, { db, tail, streams, keyWatch, charge, readQuota }: Parts): void {
  const catchUps = new ClientTurns();

  api.get(
    '/events',
    {
      config: { scope: 'pets:read' },
      schema: {
        operationId: 'listEvents',
        tags: ['Events'],
        summary: 'Read the feed of changes',
        description: `Returns a page of events about animals and, with the scope orders:read, about this client's own orders, oldest first. The Link header always leads to the next page, even if that page is still empty: poll it for new events. Events are kept for ${retentionDays} days; an older cursor returns 410, so no event is skipped silently. With \`Accept: text/event-stream\` the response is a stream of server-sent events that starts after \`Last-Event-ID\` or the cursor. Each further page of ${catchUpSize} events that a stream reads to catch up counts as a request. If the client has no requests left, the stream pauses until the window ends.`,
        'x-stability': 'experimental',
        querystring: ListEventsQuery,
        headers: Type.Object({
          'last-event-id': Type.Optional(Type.String({ description: 'For a stream: the id of the last event received.' })),
        }),
        response: {
          200: pageOrStream,
          304: notModified,
          ...errorResponses('invalid_query', 'invalid_cursor', 'cursor_expired'),
        },
      },
    },
    async (request, reply) => {
      const { query, headers, method } = request;
      const caller = callerOf(request);
      const filter = { type: query.type as EventType | undefined, orders: visibleOrders(caller) };
      if (method === 'HEAD' || !/\btext\/event-stream\b/.test(headers.accept ?? '')) return sendPage(reply, query, filter);
      // A reader that comes back still asks with the cursor that it began with; what it has seen since counts.
      const cursor = headers['last-event-id'] || query.cursor;
      const isFromEnd = !headers['last-event-id'] && cursor === latest;
      const page = await (isFromEnd ? readEnd(db) : readEvents(db, filter, { after: positionAt(cursor), limit: catchUpSize }));
      const stream = streams.open(reply, caller);
      stream.onClose(keyWatch.subscribe((ended) => ended.has(caller.keyId) && stream.close()));
      follow(stream, filter, page, caller);
      // Until the first event it would not know where to come back to.
      if (isFromEnd) stream.sendHeartbeat();
      return reply;
    },
  );

  async function sendPage(reply: FastifyReply, { type, limit = sizeDefault, cursor }: ListEvents, filter: EventFilter) {
    const { events, nextAfter } = await (cursor === latest ? readEnd(db) : readEvents(db, filter, { after: positionAt(cursor), limit }));
    addLink(reply, linkToNext(path, { limit, filters: { type }, cursor: cursorAt(nextAfter) }));
    const body = `[${events.map(eventJson).join(',')}]`;
    return reply.type('application/json; charset=utf-8').serializer(alreadySerialized).send(body);
  }

  /**
   * Sends what there is, page by page, and from the end of the feed on what everyone who follows it gets. `position` is how far
   * the reader has everything; `end` is how far the tail has come. The stream either takes what the tail hands over, where
   * that begins at or before `position`, or catches up to `end`, which moves on meanwhile: when it is reached, nothing lies
   * between it and what the tail hands over next.
   */
  function follow(stream: EventStream, filter: EventFilter, first: EventPage, caller: Caller): void {
    let position = first.nextAfter;
    let end = position;
    let isCatchingUp = false;
    let { quota } = caller;
    const send = (events: readonly EventRow[], to: bigint) => {
      stream.send(events.map(streamTextOf).join(''), () => cursorAt(to));
      position = to;
    };
    const readPaidPage = async () => {
      // It is not closed for want of requests.
      for (;;) {
        const waitMs = await charge({ clientId: caller.clientId, quota });
        if (waitMs === 0) break;
        await stream.sleep(Math.min(waitMs + Math.random() * jitterMs, askAgainMs));
        if (!stream.isOpen) return;
        quota = await readQuota(caller.clientId);
      }
      const page = await readEvents(db, filter, { after: position, limit: catchUpSize });
      send(page.events, page.nextAfter);
    };
    const catchUp = async () => {
      isCatchingUp = true;
      await stream.drained();
      let ignoreClose = () => {};
      const turn = catchUps.take(caller.clientId, caller.bounds.catchUps, (cancel) => {
        ignoreClose = stream.onClose(cancel);
      });
      const endTurn = await stream.keepOpenDuring(() => turn);
      ignoreClose();
      try {
        while (stream.isOpen && position < end) {
          await stream.keepOpenDuring(readPaidPage);
          await stream.drained();
        }
      } finally {
        endTurn?.();
        isCatchingUp = false;
      }
    };
    const unfollow = tail.follow((events, from, to) => {
      end = to;
      if (isCatchingUp || to <= position) return;
      // It can't be caught up with now: the reader comes back, and is told why.
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

// A position is the same under every filter, so a cursor is bound to none.
const cursorAt = (position: bigint) => writeCursor(position, {});
const positionAt = (cursor: string | undefined) => (cursor === undefined ? undefined : readCursor(cursor, {}));

const streamTexts = new WeakMap<EventRow, string>();

/** Made once for all who follow. */
function streamTextOf(event: EventRow): string {
  const known = streamTexts.get(event);
  if (known !== undefined) return known;
  const text = eventText(cursorAt(event.position), event.type, eventJson(event));
  streamTexts.set(event, text);
  return text;
}

const visibleOrders = (caller: Caller): EventFilter['orders'] =>
  caller.scopes.includes('store:manage') || caller.scopes.includes('orders:read') ? visibilityOf(caller) : 'none';
