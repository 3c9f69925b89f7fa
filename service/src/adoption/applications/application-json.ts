import fastJsonStringify from 'fast-json-stringify';
import { jsonSchema } from '../../platform/http/schemas.ts';
import { AnswerSchema } from '../questions/answer-schemas.ts';
import {
  ApplicantSchema,
  type Application,
  ApplicationEventSchema,
  ApplicationSchema,
  ApplicationStatusSchema,
} from './application-schemas.ts';

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
