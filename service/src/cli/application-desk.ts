import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import type { Dependencies } from '../dependencies.ts';
import { theService } from '../domain/actor.ts';
import type { Client } from '../partners/clients/client-queries.ts';
import { boundsOf } from '../partners/rate-limit/plans.ts';
import type { ReadConfig } from '../platform/config.ts';
import { type Application, type NewApplication, NewApplicationSchema } from '../store/applications/application-schemas.ts';
import { submitApplication } from '../store/applications/submissions.ts';
import { checkBySchema } from './checked-options.ts';
import { getClientByName } from './clients-by-name.ts';
import { getNamedApplication, nextCommands, petOf, withActions } from './named-applications.ts';
import { named } from './names.ts';
import { parseId } from './option-values.ts';
import { UsageError } from './output.ts';
import { onStore } from './store-command.ts';

interface SubmitOptions {
  readonly pet: bigint;
  readonly client: string;
  readonly name: string;
  readonly email: string;
  readonly phone?: string;
  readonly answers?: string;
}

/** For what reaches a shelter by telephone or at the desk: it is submitted at once, whether its adopter confirms the address or not. */
export function addSubmitCommand(applications: Command, config: ReadConfig): void {
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
      const next = nextCommands(submitted).map((command) => `  ${command}`);
      return {
        json: withActions(submitted),
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
