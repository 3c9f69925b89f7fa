import type { Command } from 'commander';
import { type ApplicationStatus, applicationActions, closedReasons, confirmedStatuses } from '../domain/application-states.ts';
import type { ReadConfig } from '../platform/config.ts';
import { findUndelivered } from '../store/applications/application-mail.ts';
import { addNames, type NamedApplication, selectApplications } from '../store/applications/application-queries.ts';
import { findBond } from './bonds.ts';
import { addListAction } from './list-command.ts';
import { clientOf, getNamedApplication, nextCommands, petOf, reader, withActions } from './named-applications.ts';
import { named } from './names.ts';
import { choiceOption, parseId } from './option-values.ts';
import { printLines, printRecord } from './output.ts';
import { onStore } from './store-command.ts';

interface ListOptions {
  readonly pet?: bigint;
  readonly shelter?: bigint;
  readonly status?: ApplicationStatus;
}

export function addApplicationListCommands(applications: Command, config: ReadConfig): void {
  const list = applications
    .command('list')
    .description('list applications of all clients, oldest first, with their animals and adopters')
    .option('--pet <id>', 'only applications for this animal', parseId)
    .option('--shelter <id>', 'only applications to this shelter', parseId)
    .addOption(choiceOption('--status <status>', 'only applications with this status', confirmedStatuses));
  addListAction(list, config, {
    what: 'applications',
    find: async ({ db }, page, { pet, shelter, status }: ListOptions) => ({
      found: (await addNames(db, await selectApplications(db, reader, { petId: pet, shelterId: shelter, status }, page))).map(withActions),
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
    return { json: { ...withActions(application), mailFailures }, text: () => showApplication(application, bond, mailFailures) };
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
  const next = nextCommands(application);
  if (next.length > 0) printLines('', 'Next:', ...next.map((command) => `  ${command}`));
}

function answerText(answer: string | boolean | readonly string[]): string {
  if (typeof answer === 'boolean') return answer ? 'Yes' : 'No';
  return typeof answer === 'string' ? answer : answer.join(', ');
}
