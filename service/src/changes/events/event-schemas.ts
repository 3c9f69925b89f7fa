import { type Static, type TProperties, Type } from 'typebox';
import { type EventType, type EventTypeRow, eventTable, eventTypes, interestsMax } from '../../domain/event-types.ts';
import { pageQuery } from '../../platform/http/paging.ts';
import { Int64, StringEnum } from '../../platform/http/schemas.ts';

const schemaIds = { pet: 'PetEvent', order: 'OrderEvent', application: 'ApplicationEvent' } as const satisfies Record<
  EventTypeRow['data'],
  string
>;
type Kind = keyof typeof schemaIds;

const kindOf = (type: EventType): Kind => eventTable[type].data;

/** The schema of events about animals or orders. Each feature passes the schema of its data. */
export const EventSchema = (
  kind: Kind,
  {
    data,
    what,
    ...options
  }: { readonly data: TProperties; readonly what: string; readonly description: string; readonly examples?: unknown[] },
) =>
  Type.Object(
    {
      id: Type.String({
        description: 'Unique identifier of the event. It is the same in the feed and in webhooks, so use it to detect duplicates.',
        examples: ['evt_1'],
      }),
      createdAt: Type.Unsafe<Date>({ type: 'string', format: 'date-time', description: 'When the event happened.' }),
      finalAt: Type.Optional(
        Type.Unsafe<Date>({
          type: 'string',
          format: 'date-time',
          description:
            'Until then, a person can undo what the event tells of: tell no adopter before, and not if an event has come that undoes it. Absent: it is final.',
        }),
      ),
      undoes: Type.Optional(
        Type.Array(Type.String(), {
          description: 'The ids of the events that told of what is undone by this one. Absent: it undoes nothing.',
        }),
      ),
      type: StringEnum(
        eventTypes.filter((type) => kindOf(type) === kind),
        { description: what },
      ),
      data: Type.Object(data),
    },
    { $id: schemaIds[kind], ...options },
  );

/** Any event, as references to the schemas that the features export. */
export const AnyEvent = Type.Union(Object.values(schemaIds).map((id) => Type.Unsafe({ $ref: `${id}#` })));

/** The `webhooks` section of the OpenAPI document: one entry for each event type. */
export const eventWebhooks = Object.fromEntries(
  eventTypes.map((type) => {
    const schema = { allOf: [{ $ref: `#/components/schemas/${schemaIds[kindOf(type)]}` }, { properties: { type: { const: type } } }] };
    return [
      type,
      {
        post: {
          // For code generators: pet.status_changed becomes petStatusChanged.
          operationId: type.replaceAll(/[._](\w)/g, (_, letter: string) => letter.toUpperCase()),
          tags: ['Events'],
          summary: eventTable[type].meaning,
          requestBody: { required: true, content: { 'application/json': { schema } } },
          responses: { '2XX': { description: 'Received.' } },
        },
      },
    ];
  }),
);

/** Repeatable in a query. */
export const InterestIds = (description: string) =>
  Type.Array(Int64(), { maxItems: interestsMax, description: `${description} At most ${interestsMax}.` });

export const ListEventsQuery = Type.Object(
  {
    ...pageQuery('events'),
    cursor: Type.Optional(
      Type.String({
        description:
          'The cursor from the Link header of the previous page. Without it, the feed starts at the oldest stored event. `latest` starts at the current end of the feed: the page is empty, and its Link leads to events published from now on.',
      }),
    ),
    type: Type.Optional(StringEnum(eventTypes, { description: 'Only events of this type.' })),
    shelterId: Type.Optional(InterestIds('Only events of animals of these shelters, and of the orders for them.')),
    categoryId: Type.Optional(InterestIds('Only events of animals of these categories, and of the orders for them.')),
  },
  { additionalProperties: false },
);
export type ListEvents = Static<typeof ListEventsQuery>;
