import type { Command } from 'commander';
import { theService } from '../domain/actor.ts';
import { requireEtag } from '../partners/admission/operation.ts';
import type { ReadConfig } from '../platform/config.ts';
import { shelterEtag } from '../store/shelters/shelter-json.ts';
import { type ConfirmedShelter, confirmShelter, getWaiting, listWaiting, type WaitingShelter } from '../store/shelters/shelters.ts';
import { commandAuthor } from './command-author.ts';
import { named } from './names.ts';
import { parseId } from './option-values.ts';
import { type Asked, confirm, printTable, UsageError } from './output.ts';
import { onStore, yesOption } from './store-command.ts';

interface Options extends Asked {
  readonly all?: boolean;
}

const pageSize = 1_000;

/** For store staff: what shelters say of themselves, and mail and searches for places don't have yet. */
export function addConfirmCommand(shelters: Command, config: ReadConfig): void {
  const command = shelters
    .command('confirm')
    .description('list what shelters have changed of their names, contact details and places, or let it into mail and searches')
    .argument('[ids...]', 'the shelters')
    .option('--all', 'all that is listed')
    .option(...yesOption);
  onStore(command, config, (given: readonly string[], { all, yes, json }: Options) => {
    const ids = given.map(parseId);
    if (all && ids.length > 0) throw new UsageError('--all and ids contradict each other; give one.');
    return async ({ db, catalogue, config: { mail } }) => {
      const mails = mail !== undefined;
      const read = async () => {
        const found: WaitingShelter[] = [];
        for (let page: WaitingShelter[] = []; found.length === 0 || page.length === pageSize; found.push(...page)) {
          page = await listWaiting(db, { afterId: found.at(-1)?.shelter.id ?? 0n, limit: pageSize, mails });
          if (page.length === 0) break;
        }
        return found;
      };
      const listed = ids.length > 0 ? await Promise.all(ids.map((id) => getWaiting(db, id, { mails }))) : await read();
      if (!all && ids.length === 0) {
        return { json: listed.map(jsonOf), text: () => printTable(listed.flatMap(rowsOf), 'Nothing waits.') };
      }
      const confirmed: ConfirmedShelter[] = [];
      for (const one of listed) {
        const { shelter } = one;
        const said = rowsOf(one).map(
          ({ field, says, confirmed: before }) => `${field}: ${says}${before === null ? '' : ` (before: ${before})`}`,
        );
        if (said.length > 0) await confirm(`${named(shelter.name, shelter.id)}: ${said.join('; ')}`, 'Confirm this?', { yes, json });
        const expect = (now: typeof shelter) => requireEtag(shelterEtag(shelter), shelterEtag(now), named(now.name, now.id));
        confirmed.push(await confirmShelter(catalogue, shelter.id, { key: theService, by: commandAuthor(), mails, expect }));
      }
      return {
        json: confirmed.map(({ shelter, ...rest }) => ({ id: shelter.id, name: shelter.name, ...rest })),
        text: confirmed.flatMap(linesOf),
      };
    };
  });
}

const jsonOf = ({ shelter, confirmed, waiting }: WaitingShelter) => ({
  id: shelter.id,
  name: shelter.name,
  waiting: waiting.map((field) => ({ field, says: shelter[field], confirmed: confirmed[field] })),
});

const rowsOf = ({ shelter, confirmed, waiting }: WaitingShelter) =>
  waiting.map((field) => ({ id: shelter.id, shelter: shelter.name, field, says: shelter[field], confirmed: confirmed[field] }));

function linesOf({ shelter, confirmed, asksByMail }: ConfirmedShelter): string[] {
  const who = named(shelter.name, shelter.id);
  const mailed = asksByMail ? [`${shelter.email} counts once the link is followed that is mailed there now.`] : [];
  if (confirmed.length === 0) return mailed.length > 0 ? mailed : [`Nothing of ${who} waits.`];
  return [`Confirmed of ${who}: ${confirmed.join(', ')}.`, ...mailed];
}
