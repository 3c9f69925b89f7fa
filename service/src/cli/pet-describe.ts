import type { Command } from 'commander';
import type { Dependencies } from '../dependencies.ts';
import { theService } from '../domain/actor.ts';
import { type ProfileChanges, type StoredProfile, storedRows } from '../domain/profile-fields.ts';
import type { ReadConfig } from '../platform/config.ts';
import { dayOf } from '../store/profiles/profile-checks.ts';
import { profileOf } from '../store/profiles/profile-json.ts';
import { ProfileChangesSchema } from '../store/profiles/profile-schemas.ts';
import { writeProfile } from '../store/profiles/profiles.ts';
import { readJsonFile } from './json-files.ts';
import { getNamedPet, petOf } from './named-pets.ts';
import { parseId } from './option-values.ts';
import { UsageError } from './output.ts';
import { addProfileOptions, readProfileOptions } from './profile-options.ts';
import { wordsOf } from './profile-words.ts';
import { onStore } from './store-command.ts';

export function addDescribePetCommand(pets: Command, config: ReadConfig): void {
  const describe = pets
    .command('describe')
    .description('write the profile of an animal: what is given changes, an empty value removes what is known, and the rest stays')
    .argument('<id>', 'the animal', parseId)
    .option('--from <file>', 'a JSON file with fields of a profile, as a request has them; - is standard input. Options win');
  onStore(addProfileOptions(describe), config, async (id: bigint, { from, ...options }: { readonly from?: string }) => {
    const ofOptions = readProfileOptions(options);
    const ofFile = from === undefined ? {} : await readProfileFile(from);
    const changes = merged(ofFile, ofOptions);
    if (Object.keys(changes).length === 0) {
      throw new UsageError("Give what to change, such as --sex male, or a file with --from. 'homeward pets describe --help' lists all.");
    }
    return async (dependencies) => {
      const pet = await getNamedPet(dependencies.db, id);
      const { before, after } = await write(dependencies, id, changes);
      const changed = storedRows.map(([name]) => name).filter((name) => !isSame(before[name], after[name]));
      const what = changed.map(wordsOf).join(', ');
      const text =
        changed.length === 0
          ? `The profile of ${petOf(pet)} says so already.`
          : [`Changed the profile of ${petOf(pet)}: ${what}.`, `See it: homeward pets show ${id}`];
      return { json: { id, profile: profileOf(after, dayOf(Date.now())) }, text };
    };
  });
}

const readProfileFile = async (file: string): Promise<ProfileChanges> =>
  (await readJsonFile(file, ProfileChangesSchema, { ifEmpty: 'It must have an object with fields of a profile.' })) as ProfileChanges;

/** Of a field that both have parts of, the parts of both are taken. */
function merged(ofFile: ProfileChanges, ofOptions: ProfileChanges): ProfileChanges {
  const isParts = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value);
  const [file, options] = [ofFile as Record<string, unknown>, ofOptions as Record<string, unknown>];
  const entries = Object.entries(options).map(([name, value]) => {
    const isMerged = isParts(value) && isParts(file[name]);
    return [name, isMerged ? { ...(file[name] as object), ...(value as object) } : value];
  });
  return { ...file, ...Object.fromEntries(entries) };
}

/** The same operation as the API's merge patch, done as the store's staff. */
async function write(
  { db, catalogue }: Dependencies,
  id: bigint,
  changes: ProfileChanges,
): Promise<{ before: StoredProfile; after: StoredProfile }> {
  let before: StoredProfile | undefined;
  const expect = (_: unknown, current: StoredProfile) => {
    before = current;
  };
  const after = await writeProfile({ db, catalogue }, id, theService, { how: 'merge', changes, nowMs: Date.now(), expect });
  return { before: before ?? after, after };
}

const isSame = (one: unknown, other: unknown): boolean => asText(one) === asText(other);
const asText = (value: unknown) => JSON.stringify(value, (_, one) => (typeof one === 'bigint' ? String(one) : one));
