import fastJsonStringify from 'fast-json-stringify';
import { type Static, Type } from 'typebox';
import { EventSchema } from '../../changes/events/event-schemas.ts';
import { applicationStates, applicationStatuses, closedReasonNames, closedReasons } from '../../domain/application-states.ts';
import { controls, reorderings } from '../../platform/characters.ts';
import { pageQuery } from '../../platform/http/paging.ts';
import {
  closedBody,
  EmailText,
  Int64,
  Int64OrNull,
  jsonSchema,
  PlainName,
  PlainText,
  Ref,
  StringEnum,
} from '../../platform/http/schemas.ts';
import { AnswerSchema, GivenAnswersSchema } from '../questions/question-schemas.ts';

const Time = (description: string) => Type.Unsafe<Date>({ type: 'string', format: 'date-time', description });

export const ApplicationStatusSchema = StringEnum(applicationStatuses, {
  $id: 'ApplicationStatus',
  description: `The status of the application. ${applicationStatuses.map((status) => `${status}: ${applicationStates[status].meaning}`).join(' ')}`,
});

const visibleTo = "Visible only to the client that submitted the application, to the store, and to the shelter's staff.";
const ada = { name: 'Ada Lovelace', email: 'ada@example.org', phone: '+43 1 555 01 23' };
const phoneLengthMax = 40;
/** In characters. */
export const textLengthMax = 2_000;

const NewApplicantSchema = Type.Object(
  {
    name: PlainName("The adopter's name.", [ada.name]),
    email: EmailText("The adopter's e-mail address.", ada.email),
    phone: Type.Optional(
      Type.String({
        description: "The adopter's telephone number.",
        maxLength: phoneLengthMax,
        pattern: `^[^${controls}${reorderings}]*$`,
        'x-must-not-contain': controls + reorderings,
        'x-must-be': `a string of at most ${phoneLengthMax} characters, without control characters, lone surrogates or bidirectional overrides`,
        examples: [ada.phone],
      }),
    ),
  },
  { description: visibleTo, examples: [ada] },
);

export const NewApplicationSchema = closedBody(
  Type.Object(
    {
      petId: Int64({ description: 'The animal that the adopter asks for.', examples: [1] }),
      adopter: NewApplicantSchema,
      answers: Type.Optional(GivenAnswersSchema),
      confirmed: Type.Optional(
        Type.Boolean({
          description:
            "For staff who enter an application at the desk: it is submitted at once. Only keys that may decide on the animal's applications may set it to true. It confirms no address: until the adopter follows a link that was mailed there, mail says only that there is news.",
        }),
      ),
    },
    { $id: 'NewApplication', examples: [{ petId: 1, adopter: ada }] },
  ),
);
export type NewApplication = Static<typeof NewApplicationSchema>;

/** Without constraints: adopters that were stored under earlier rules are still shown. */
const ApplicantSchema = Type.Object(
  {
    name: Type.String({ description: "The adopter's name.", examples: [ada.name] }),
    email: Type.String({ description: "The adopter's e-mail address.", examples: [ada.email] }),
    phone: Type.Union([Type.String(), Type.Null()], {
      description: "The adopter's telephone number; null: none was given.",
      examples: [ada.phone],
    }),
  },
  { $id: 'Applicant', description: visibleTo, examples: [ada] },
);

const closedMeanings = closedReasonNames.map((name) => `${name}: ${closedReasons[name].meaning}`);

const inEvents = {
  id: Int64({ description: 'Unique identifier assigned by the service.', examples: [1] }),
  petId: Int64({ description: 'The animal that the adopter asks for.', examples: [1] }),
  shelterId: Int64({ description: "The animal's shelter, or the one that decided if the animal was moved afterwards.", examples: [1] }),
  status: Ref(ApplicationStatusSchema),
  closedReason: Type.Union([StringEnum(closedReasonNames), Type.Null()], {
    description: `Why a closed application was closed; null: it is not closed. ${closedMeanings.join(' ')}`,
  }),
  orderId: Int64OrNull({ description: 'The last order that was placed for it; null: it was not accepted so far.', examples: [1] }),
  createdAt: Time('When it was sent.'),
  updatedAt: Time('When its status last changed.'),
};

export const ApplicationSchema = Type.Object(
  {
    ...inEvents,
    adopter: Type.Union([Ref(ApplicantSchema), Type.Null({ description: "The adopter's data has been erased." })]),
    answers: Type.Optional(
      Type.Union([Type.Array(Ref(AnswerSchema)), Type.Null()], {
        description: 'What the adopter has answered; null: the answers have been erased. Left out of lists.',
      }),
    ),
    message: Type.Union([Type.String(), Type.Null()], {
      description: 'What staff wrote to the adopter when they declined it; null: nothing.',
    }),
    note: Type.Optional(
      Type.Union([Type.String(), Type.Null()], {
        description: 'The newest note of staff; null: there is none. Only staff see it, others get no such field.',
      }),
    ),
    mailFailures: Type.Optional(
      Type.Array(
        Type.Object({
          kind: Type.String({ description: 'What the message was about.', examples: ['accepted'] }),
          code: Type.String({
            description: 'The code that the mail server returned, or `4.7.1 daily limit` if the address had its messages of the day.',
            examples: ['550 5.1.1'],
          }),
        }),
        {
          description:
            'Messages that could not be delivered to the adopter: use the telephone. Only staff see it, when they read one application.',
        },
      ),
    ),
    statusUrl: Type.Optional(
      Type.String({
        description:
          'The page on which the adopter sees where this application stands. Anyone who has the URL can: give it to the adopter alone. To withdraw it, or to have their data erased, the adopter asks there for a link by e-mail; where the store sends none, the page does both itself. Only keys of the client that submitted it get it, if they may submit applications.',
      }),
    ),
  },
  { $id: 'Application' },
);
type ApplicationJson = Static<typeof ApplicationSchema>;

/** An application as it is stored. */
export interface Application extends Omit<ApplicationJson, 'note' | 'mailFailures' | 'statusUrl' | 'answers'> {
  readonly clientId: bigint;
  readonly note: string | null;
  /** Null: erased. Undefined: not read. */
  readonly answers?: ApplicationJson['answers'];
  /** Undefined: not read. */
  readonly mailFailures?: ApplicationJson['mailFailures'];
  /** Whether its adopter is told by e-mail. */
  readonly isMailed: boolean;
  /** Whether its adopter has confirmed the address. */
  readonly isConfirmed: boolean;
  /** The number of the links to its adopter's page. */
  readonly linkNumber: bigint;
  /** It was withdrawn, and staff may reopen it all the same. */
  readonly isReopenable: boolean;
}

export const ApplicationEventSchema = Type.Object(inEvents, {
  $id: 'ApplicationInEvent',
  description: "An application without the adopter's data, which no event contains.",
});

const ApplicationEventEnvelopeSchema = EventSchema('application', {
  what: 'What happened to the application.',
  data: { application: Ref(ApplicationEventSchema) },
  description: "Sent to the client that submitted the application, to the store, and to the animal's shelter.",
});

export const ApplicationNoteSchema = closedBody(
  Type.Object(
    {
      note: Type.Union([PlainText('A note for staff.', ['Has a garden.'], textLengthMax), Type.Null()], {
        'x-must-be': `a string of at most ${textLengthMax.toLocaleString('en')} characters, or null`,
      }),
    },
    { $id: 'ApplicationNote', examples: [{ note: 'Has a garden.' }] },
  ),
  ApplicationSchema,
);

export const DeclineSchema = closedBody(
  Type.Object(
    { message: Type.Optional(PlainText('What the adopter is told.', ['Biscuit needs a home without cats.'], textLengthMax)) },
    { $id: 'ApplicationDecline', examples: [{ message: 'Biscuit needs a home without cats.' }] },
  ),
);

export const applicationSchemas = [
  AnswerSchema,
  ApplicationStatusSchema,
  ApplicantSchema,
  NewApplicationSchema,
  ApplicationSchema,
  ApplicationNoteSchema,
  DeclineSchema,
  ApplicationEventSchema,
  ApplicationEventEnvelopeSchema,
];
export { ApplicantSchema };

export const ListApplicationsQuery = Type.Object(
  {
    ...pageQuery('applications'),
    petId: Type.Optional(Int64({ description: 'Only applications for this animal.' })),
    shelterId: Type.Optional(Int64({ description: 'Only applications to this shelter.' })),
    status: Type.Optional(StringEnum(applicationStatuses, { description: 'Only applications with this status.' })),
  },
  { additionalProperties: false },
);

const referenced = {
  ApplicationStatus: jsonSchema(ApplicationStatusSchema),
  Applicant: jsonSchema(ApplicantSchema),
  Answer: jsonSchema(AnswerSchema),
};
const withNote = fastJsonStringify(jsonSchema(ApplicationSchema), { schema: referenced });

/** Serializes an application for a response. The same text is stored for retries. Only staff see the note, and what could not be delivered. */
export const applicationJson = ({ note, mailFailures, ...application }: Application, isStaff: boolean): string =>
  withNote(isStaff ? { ...application, note, ...(mailFailures && { mailFailures }) } : application);

/** The application that such a text is about. */
export function idOf(json: string): bigint {
  // With a blank if PostgreSQL has written it: it erases adopters from stored responses.
  const [, id] = /^{"id": ?(\d+),/.exec(json) ?? [];
  if (id === undefined) throw new Error('an application does not begin with its id');
  return BigInt(id);
}

/** Adds the address of the adopter's page to such a text: no stored response may contain it. */
export const withStatusUrl = (json: string, url: string | undefined): string =>
  url === undefined ? json : `${json.slice(0, -1)},"statusUrl":${JSON.stringify(url)}}`;

/** Serializes an application for an event. The schema has no field for the adopter, so that no adopter's data can leak into events. */
export const applicationEventJson: (application: Application) => string = fastJsonStringify(jsonSchema(ApplicationEventSchema), {
  schema: { ApplicationStatus: referenced.ApplicationStatus },
});
