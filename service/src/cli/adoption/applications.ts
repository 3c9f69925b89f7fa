import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import type { Client } from '../../access/clients/client-queries.ts';
import { boundsOf } from '../../access/rate-limit/plans.ts';
import { findUndelivered } from '../../adoption/applications/application-mail.ts';
import { addNames, type NamedApplication, selectApplications } from '../../adoption/applications/application-queries.ts';
import { type Application, type NewApplication, NewApplicationSchema } from '../../adoption/applications/application-schemas.ts';
import { submitApplication } from '../../adoption/applications/submissions.ts';
import type { Dependencies } from '../../dependencies.ts';
import { theService } from '../../domain/actor.ts';
import { type ApplicationStatus, applicationActions, closedReasons, confirmedStatuses } from '../../domain/application-states.ts';
import type { ReadConfig } from '../../platform/config.ts';
import { getClientByName } from '../access/clients.ts';
import { checkBySchema } from '../terminal/checked-options.ts';
import { named, printLines, printRecord, UsageError } from '../terminal/output.ts';
import { addListAction, choiceOption, onStore, parseId } from '../terminal/store-command.ts';
import { addApplicationActionCommands, addApplicationEndCommands, addEndLinkCommand } from './application-actions.ts';
import { addApplicantErasureCommand } from './erasure.ts';
import {
  applicationReader,
  applicationWithActions,
  clientOf,
  findBond,
  getNamedApplication,
  nextApplicationCommands,
  petOf,
} from './named.ts';

export function addApplicationCommands(program: Command, config: ReadConfig): void {
  const applications = program
    .command('applications')
    .description(
      "list and show applications, submit one at the desk, review, accept, decline, reopen and withdraw them, end links to adopters' pages, and erase adopters' data",
    );
  addApplicationListCommands(applications, config);
  addSubmitCommand(applications, config);
  addApplicationActionCommands(applications, config);
  addApplicationEndCommands(applications, config);
  addEndLinkCommand(applications, config);
  addApplicantErasureCommand(applications, config);
}

interface ListOptions {
  readonly pet?: bigint;
  readonly shelter?: bigint;
  readonly status?: ApplicationStatus;
}

function addApplicationListCommands(applications: Command, config: ReadConfig): void {
  const list = applications
    .command('list')
    .description('list applications of all clients, oldest first, with their animals and adopters')
    .option('--pet <id>', 'only applications for this animal', parseId)
    .option('--shelter <id>', 'only applications to this shelter', parseId)
    .addOption(choiceOption('--status <status>', 'only applications with this status', confirmedStatuses));
  addListAction(list, config, {
    what: 'applications',
    find: async ({ db }, page, { pet, shelter, status }: ListOptions) => ({
      found: (await addNames(db, await selectApplications(db, applicationReader, { petId: pet, shelterId: shelter, status }, page))).map(
        applicationWithActions,
      ),
      filters: { pet, shelter, status },
    }),
    columns: (application) => ({
      id: application.id,
      status: application.status,
      animal: petOf(application),
      adopter: application.adopter?.name,
      client: clientOf(application),
      submitted: application.createdAt,
    }),
    leastImportant: ['client', 'submitted'],
  });

  const show = applications
    .command('show')
    .description('show an application with its answers, and the commands that its status allows')
    .argument('<id>', 'the application', parseId);
  onStore(show, config, (id: bigint) => async ({ db }) => {
    const application = await getNamedApplication(db, id);
    const mailFailures = await findUndelivered(db, id);
    const bond = await findBond(db, application.petId);
    return { json: { ...applicationWithActions(application), mailFailures }, text: () => showApplication(application, bond, mailFailures) };
  });
}

function showApplication(
  application: NamedApplication,
  bond: string | undefined,
  mailFailures: ReadonlyArray<{ kind: string; code: string }>,
): void {
  const { adopter, status, createdAt, updatedAt, closedReason, answers } = application;
  printRecord({
    application: application.id,
    status,
    animal: petOf(application),
    'bonded with': bond,
    shelter: named(application.shelter, application.shelterId),
    adopter: adopter ? `${adopter.name} <${adopter.email}>` : 'erased',
    phone: adopter?.phone,
    client: clientOf(application),
    order: application.orderId,
    submitted: createdAt,
    ...(status !== applicationActions.confirm.to && { [status]: updatedAt }),
    reason: closedReason && closedReasons[closedReason].meaning,
    message: application.message,
    note: application.note,
    undelivered: mailFailures.map(({ kind, code }) => `${kind} (${code})`).join(', ') || undefined,
  });
  for (const { text, answer } of answers ?? []) printLines('', text, `  ${answerText(answer)}`);
  const next = nextApplicationCommands(application);
  if (next.length > 0) printLines('', 'Next:', ...next.map((command) => `  ${command}`));
}

function answerText(answer: string | boolean | readonly string[]): string {
  if (typeof answer === 'boolean') return answer ? 'Yes' : 'No';
  return typeof answer === 'string' ? answer : answer.join(', ');
}

interface SubmitOptions {
  readonly pet: bigint;
  readonly client: string;
  readonly name: string;
  readonly email: string;
  readonly phone?: string;
  readonly answers?: string;
}

/** For what reaches a shelter by telephone or at the desk: it is submitted at once, whether its adopter confirms the address or not. */
function addSubmitCommand(applications: Command, config: ReadConfig): void {
  const submit = applications
    .command('submit')
    .description('submit an application for a client, as at the desk: it waits for no confirmation of the e-mail address')
    .requiredOption('--pet <id>', 'the animal', parseId)
    .requiredOption('--name <name>', "the adopter's name")
    .requiredOption('--email <address>', "the adopter's e-mail address")
    .option('--phone <number>', "the adopter's telephone number")
    .option('--answers <file>', 'a JSON file with the answers: an object with the ids of the questions')
    .requiredOption('--client <name>', 'the client that the application belongs to; its limits apply');
  onStore(submit, config, (options: SubmitOptions) => {
    const given = readApplication(options);
    return async (dependencies) => {
      const { db } = dependencies;
      const { id } = await submitFor(dependencies, await getClientByName(db, options.client), given);
      const submitted = await getNamedApplication(db, id);
      const next = nextApplicationCommands(submitted).map((command) => `  ${command}`);
      return {
        json: applicationWithActions(submitted),
        text: [`Application ${id} of ${options.name} for ${petOf(submitted)} is ${submitted.status}.`, '', 'Next:', ...next],
      };
    };
  });
}

function readApplication({ pet: petId, name, email, phone, answers: file }: SubmitOptions): NewApplication {
  const { name: nameSchema, email: emailSchema, phone: phoneSchema } = NewApplicationSchema.properties.adopter.properties;
  const schema = { type: 'object', properties: { '--name': nameSchema, '--email': emailSchema, '--phone': phoneSchema } };
  checkBySchema(schema, { '--name': name, '--email': email, ...(phone !== undefined && { '--phone': phone }) });
  const adopter = { name, email, ...(phone !== undefined && { phone }) };
  const application = { petId, adopter, confirmed: true, ...(file !== undefined && { answers: readJson(file) }) };
  checkBySchema(NewApplicationSchema, application);
  return application as NewApplication;
}

function readJson(file: string): unknown {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new UsageError(`${file} can't be read: ${(error as Error).message}`);
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UsageError(`${file} is not JSON: ${(error as Error).message}`);
  }
}

async function submitFor({ db, config }: Dependencies, client: Client, application: NewApplication): Promise<Application> {
  if (client.suspendedAt) {
    throw new UsageError(
      `${named(client.name, client.id)} is suspended, so no application can be submitted for it. 'homeward clients resume' ends that.`,
    );
  }
  const terms = { clientId: client.id, bounds: boundsOf(client), mails: config.mail !== undefined };
  return db.transaction((tx) => submitApplication(tx, application, theService, terms), { clientId: client.id, authority: null });
}
