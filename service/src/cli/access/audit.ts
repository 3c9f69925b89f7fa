import type { Command } from 'commander';
import { auditedActs, isPosition, listActs, type RecordedAct } from '../../access/audit/audit.ts';
import { findPerson, findPersonOf } from '../../access/people/people.ts';
import { failedSignInDays, listFailedSignIns } from '../../access/people/sessions.ts';
import type { ReadConfig } from '../../platform/config.ts';
import type { Db } from '../../platform/db/handles.ts';
import { printLines, printTable, UsageError } from '../terminal/output.ts';
import { choiceOption, limitMax, onStore, parseCount, parseDuration, parseId, printsArray } from '../terminal/store-command.ts';

interface Options {
  readonly person?: string;
  readonly act?: string;
  readonly target?: string;
  readonly since?: number;
  readonly until?: number;
  readonly before?: string;
  readonly limit?: number;
}

const limitDefault = 100;
/** An erasure names what was erased among its values. */
const targets = [...new Set<string>(Object.values(auditedActs).map(({ target }) => target)), 'animal', 'order', 'application'].filter(
  (kind) => kind !== 'adopter',
);

export function addAuditCommands(program: Command, config: ReadConfig): void {
  const audit = program.command('audit').description('show who has done what, and from where');
  const list = audit
    .command('list')
    .description(
      'list acts of people, keys and commands, the newest first: on people, keys, plans, bans and shelters, and what people did with animals, orders and applications',
    )
    .option('--person <person>', 'only those of this person, by address or id')
    .addOption(choiceOption('--act <act>', 'only these acts', Object.keys(auditedActs)))
    .option('--target <target>', `only those on this, such as 'key 7' or 'animal 12': ${targets.join(', ')}`)
    .option('--since <duration>', 'only within this time: 90d, 12h, 30m', parseDuration)
    .option('--until <duration>', 'only until this long ago', parseDuration)
    .option('--before <position>', 'only older ones, to go on after the last one of a list')
    .option('--limit <n>', `at most this many, up to ${limitMax} (default: ${limitDefault})`, parseCount);
  const read = (options: Options) => {
    const { act, before, limit = limitDefault } = options;
    const target = options.target === undefined ? undefined : readTarget(options.target);
    if (limit > limitMax) throw new UsageError(`--limit must be an integer from 1 to ${limitMax}; got "${limit}".`);
    if (before !== undefined && !isPosition(before))
      throw new UsageError(`--before must be a position that a list has ended with; got "${before}".`);
    return async ({ db }: { db: Db }) => {
      const personId = options.person === undefined ? undefined : await readPerson(db, options.person);
      const time = { since: ago(options.since), until: ago(options.until) };
      const found = await listActs(db, { personId, act, target, before, ...time, limit: limit + 1 });
      const shown = found.slice(0, limit);
      const text = () => {
        printTable(shown.map(rowOf), 'Nothing was recorded, or nothing matches.', { leastImportant: ['from', 'values'] });
        const last = shown.at(-1);
        if (last && found.length > shown.length) printLines('', `More follow. Repeat the command with --before ${last.position}`);
      };
      return { json: shown.map(({ source, ...shownAct }) => ({ recordedIn: source, ...shownAct })), text };
    };
  };
  onStore(list, config, read, printsArray);
  addFailedSignIns(audit, config);
}

/** They have no author, so no row of the audit has them. */
function addFailedSignIns(audit: Command, config: ReadConfig): void {
  const failed = audit
    .command('failed-sign-ins')
    .description('list sign-ins to the console that failed: how often in which hour (UTC), by which way, from which network')
    .option('--since <duration>', `only within this time: 90d, 12h, 30m (default: 24h; ${failedSignInDays}d are kept)`, parseDuration)
    .option('--limit <n>', `at most this many rows, up to ${limitMax} (default: ${limitDefault})`, parseCount);
  const read = ({ since = 86_400, limit = limitDefault }: Pick<Options, 'since' | 'limit'>) => {
    if (limit > limitMax) throw new UsageError(`--limit must be an integer from 1 to ${limitMax}; got "${limit}".`);
    return async ({ db }: { db: Db }) => {
      const rows = await listFailedSignIns(db, new Date(Date.now() - since * 1_000), limit);
      const text = () =>
        printTable(
          rows.map(({ hour, kind, network, count }) => ({ hour, by: kind, from: network, failed: count })),
          'No sign-in has failed.',
        );
      return { json: rows, text };
    };
  };
  onStore(failed, config, read, printsArray);
}

function readTarget(text: string): { kind: string; id: bigint } {
  const [kind = '', id = '', ...rest] = text.trim().split(/\s+/);
  if (targets.includes(kind) && rest.length === 0) return { kind, id: parseId(id) };
  throw new UsageError(`--target must be one of ${targets.join(', ')}, with an id, such as 'key 7'; got "${text}".`);
}

/** Also someone who was removed, by id. */
async function readPerson(db: Db, who: string): Promise<bigint> {
  if (/^\d+$/.test(who)) return (await findPerson(db, parseId(who)))?.id ?? parseId(who);
  const person = await findPersonOf(db, who);
  if (!person) throw new UsageError(`Nobody has the address ${who}. Someone who was removed is found by id.`);
  return person.id;
}

const ago = (seconds: number | undefined): Date | undefined => (seconds === undefined ? undefined : new Date(Date.now() - seconds * 1_000));

const rowOf = (act: RecordedAct) => ({
  at: act.at,
  by: authorOf(act),
  from: act.network ?? act.host,
  act: act.act,
  target: act.targetId === null ? act.target : `${act.target} ${act.targetId}`,
  values: valuesOf(act),
});

function authorOf({ personId, email, keyId, login }: RecordedAct): string {
  if (personId !== null) return email ? `${email} (${personId})` : `person ${personId}`;
  if (keyId !== null) return `key ${keyId}`;
  return login ?? 'the service';
}

function valuesOf({ before, after }: RecordedAct): string | null {
  const fields = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  const texts = fields.map((field) => {
    const [was, is] = [before?.[field], after?.[field]].map((value) => (value === undefined || value === null ? '–' : String(value)));
    return before === null || after === null ? `${field} ${before === null ? is : was}` : `${field} ${was} → ${is}`;
  });
  return texts.join(', ') || null;
}
