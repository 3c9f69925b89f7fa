// Staff change animals and their profiles by command, with the rules of the API.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { storedParts, storedRows } from '../../src/domain/profile-fields.ts';
import { createManager, type PetBody, placeOrder, readPet } from '../adoption-steps.ts';
import { readApplication, submit } from '../application-steps.ts';
import { disposeAfterAll } from '../dispose-after-all.ts';
import { everything, nothingKnown, readProfile, writeProfile } from '../profile-steps.ts';
import { openTestStore } from '../test-store.ts';
import { homeward, homewardJson } from './homeward-command.ts';
import { homewardOnTerminal } from './on-terminal.ts';

const store = await openTestStore();
const { env } = store;
const manager = await createManager(store, { client: 'Happy Tails' });
const folder = mkdtempSync(path.join(tmpdir(), 'homeward-profiles-'));
disposeAfterAll({ [Symbol.asyncDispose]: async () => rmSync(folder, { recursive: true }) });

const add = (name: string) => homewardJson<PetBody>(['pets', 'add', '--name', name, '--category', 'Dogs'], env);
const update = (id: number, ...options: string[]) => homeward(['pets', 'update', String(id), ...options], { env });
const describePet = (id: number, ...options: string[]) => homeward(['pets', 'describe', String(id), ...options], { env });
const eventsOf = async (id: number) => {
  const rows = await store.read<{ type: string }>('select type from outbox where pet_id = $1 order by id', id);
  return rows.map(({ type }) => type);
};

describe('pets update', () => {
  test('changes name, category and status at once, as the API does, and says what they were', async () => {
    const { id } = await add('Bisquit');
    const { status, stdout } = await update(id, '--name', 'Biscuit', '--category', 'cats', '--status', 'sold');
    expect({ status, stdout }).toEqual({
      status: 0,
      stdout: `Updated Biscuit (${id}): it was called Bisquit; it moved from Dogs (1) to Cats (2); it is sold now, and was available.\n`,
    });
    expect(await readPet(store, manager, id)).toEqual({ id, name: 'Biscuit', categoryId: 2, status: 'sold' });
    expect(await eventsOf(id)).toEqual(['pet.created', 'pet.updated', 'pet.status_changed']);
    const [last] = await store.read('select client_id, key_id, why from history where pet_id = $1 order by id desc limit 1', id);
    expect(last).toEqual({ client_id: null, key_id: null, why: 'status set by staff' });
    expect((await update(id, '--name', 'Biscuit')).stdout).toBe(`Biscuit (${id}) is so already.\n`);
    expect(await homewardJson(['pets', 'update', String(id), '--status', 'available'], env)).toEqual({
      ...{ id, name: 'Biscuit', categoryId: 2, status: 'available', category: 'Cats' },
    });
  });

  test('the status of an animal with an open order is rejected with 2 and the order to cancel, and nothing changes', async () => {
    const { id } = await add('Juno');
    const order = await placeOrder(store, manager, id);
    expect(await update(id, '--status', 'sold', '--name', 'Juna')).toEqual({
      status: 2,
      stdout: '',
      stderr: `homeward: Juno (${id}) is reserved by order ${order.id}, so its status can't be set to sold. Cancel the order first: homeward orders cancel ${order.id}\n`,
    });
    expect(await readPet(store, manager, id)).toMatchObject({ name: 'Juno', status: 'pending' });
  });

  test.each([
    [[], 'Give what to change: --name, --category, --status, or several of them.'],
    [['--name', ' '], '--name must be a string of 1–200 characters, not blank'],
    [['--status', 'lost'], '--status must be one of available, pending, sold; got "lost".'],
    [['--category', 'Unicorns'], 'There is no category "Unicorns". There are Dogs (1), Cats (2),'],
  ])('with %j is rejected with 2 and what is wrong', async (options, message) => {
    const { id } = await add('Otis');
    const { status, stderr } = await update(id, ...options);
    expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringContaining(message) });
  });

  test('with a closed list of categories, an unknown id is rejected with 2 and what exists', async () => {
    const { id } = await add('Otis');
    const closed = { ...env, HOMEWARD_CATEGORIES: 'closed' };
    const { status, stderr } = await homeward(['pets', 'update', String(id), '--category', '4711'], { env: closed });
    expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringContaining('There is no category 4711. There are Dogs (1)') });
    expect(await homeward(['pets', 'update', '999999', '--name', 'Nobody'], { env })).toMatchObject({
      status: 2,
      stderr: "homeward: There is no animal 999999. 'homeward pets list' lists all.\n",
    });
  });

  test('asks before a status that closes applications', async () => {
    const { id } = await add('Waffle');
    const application = await submit(store, manager, id);
    const sell = (keys: string) =>
      homewardOnTerminal(['pets', 'update', String(id), '--status', 'sold'], {
        env,
        columns: 200,
        typed: [{ after: '[y/N] ', keys: `${keys}\r` }],
      });
    const declined = await sell('n');
    expect(declined.text).toContain('An open application for it is closed with that. Set it to sold? [y/N]');
    expect(await readPet(store, manager, id)).toMatchObject({ status: 'available' });
    expect((await sell('y')).status).toBe(0);
    expect(await readApplication(store, manager, application.id)).toMatchObject({ status: 'closed' });
  });
});

describe('pets describe', () => {
  test('has an option for every field of a profile, and writes what is given', async () => {
    const { id } = await add('Pretzel');
    const friend = await add('Bagel');
    const given: Record<string, unknown> = { ...everything, bondedWith: [friend.id] };
    const options = storedRows.flatMap(([name, row]) => {
      const value = given[name];
      if (!('fields' in row)) return optionOf([name], value);
      return storedParts(row).flatMap(([part]) => optionOf([name, part], (value as Record<string, unknown>)[part]));
    });
    const { status, stdout, stderr } = await describePet(id, ...options);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(new RegExp(`^Changed the profile of Pretzel \\(${id}\\): description, breeds, birth date, `));
    expect(stdout).toContain(`\nSee it: homeward pets show ${id}\n`);
    const { json } = await readProfile(store, manager, id);
    expect(json).toMatchObject({ ...given, attributes: { Zodiac: 'Taurus', 'Favourite toy': 'a red ball' } });
    expect(await eventsOf(id)).toEqual(['pet.created', 'pet.profile_changed']);
    expect((await describePet(id, ...options)).stdout).toBe(`The profile of Pretzel (${id}) says so already.\n`);
  });

  test('keeps the rest, also of a group, and an empty value removes what is known', async () => {
    const { id } = await add('Pretzel');
    await writeProfile(store, manager, 'PUT', id, {
      sex: 'male',
      size: 'small',
      goodWith: { cats: 'no', dogs: 'yes' },
      attributes: { a: '1', b: '2' },
    });
    const options = ['--size', '', '--good-with-cats', 'yes', '--attributes', 'a=', '--attributes', 'c=x=y'];
    const printed = await homewardJson<{ profile: object }>(['pets', 'describe', String(id), ...options], env);
    expect(printed).toEqual({
      id,
      profile: {
        ...nothingKnown,
        sex: 'male',
        goodWith: { ...nothingKnown.goodWith, cats: 'yes', dogs: 'yes' },
        attributes: { b: '2', c: 'x=y' },
      },
    });
  });

  test('takes a file, over which options win, and what is not a profile is rejected with 2 and the place', async () => {
    const { id } = await add('Pretzel');
    const file = path.join(folder, 'profile.json');
    writeFileSync(file, JSON.stringify({ description: 'Loves snow.', sex: 'male', goodWith: { cats: 'yes', dogs: 'yes' } }));
    expect(await describePet(id, '--from', file, '--sex', 'female', '--good-with-dogs', 'no')).toMatchObject({ status: 0 });
    expect((await readProfile(store, manager, id)).json).toMatchObject({
      description: 'Loves snow.',
      sex: 'female',
      goodWith: { cats: 'yes', dogs: 'no' },
    });
    writeFileSync(file, '{"sex":"girl"}');
    const { status, stderr } = await describePet(id, '--from', file);
    expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringContaining('sex must be one of male, female, unknown') });
    expect((await describePet(id, '--from', path.join(folder, 'absent.json'))).stderr).toContain("absent.json can't be read");
  });

  test.each([
    [[], "Give what to change, such as --sex male, or a file with --from. 'homeward pets describe --help' lists all."],
    [['--sex', 'girl'], '--sex must be one of male, female, unknown; got "girl".'],
    [['--weight-grams', 'heavy'], '--weight-grams must be'],
    [['--birth-date', 'yesterday'], '--birth-date must be a date such as 2024-05-01'],
    [['--colors', 'a,b,c,d'], '--colors must be a list of at most 3 different strings'],
    [['--bonded-with', 'Bagel'], '"Bagel" is not an id.'],
    [['--bonded-with', '999999'], 'bondedWith must name existing animals; there is no animal with id 999999.'],
    [['--attributes', 'toy'], '--attributes must be a name and a value, such as \'Favourite toy=a red ball\'; got "toy".'],
    [['--birth-date', '2999-01-01'], 'birthDate'],
    [['--adoption-fee-amount', '12000'], 'adoptionFee'],
  ])('with %j is rejected with 2 and what is wrong', async (options, message) => {
    const { id } = await add('Otis');
    const { status, stderr } = await describePet(id, ...options);
    expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringContaining(message) });
    expect((await readProfile(store, manager, id)).json).toEqual(nothingKnown);
  });

  test('an id of the shelter that another animal has is rejected with 2 and that animal', async () => {
    const [first, second] = [await add('Rex'), await add('Max')];
    await describePet(first.id, '--external-id', 'S-1');
    const { status, stderr } = await describePet(second.id, '--external-id', 'S-1');
    expect({ status, stderr }).toEqual({
      status: 2,
      stderr: `homeward: Rex (id ${first.id}) of shelter 1 already has the externalId "S-1". Change it there or here first.\n`,
    });
  });
});

/** The option for a value, as staff would type it. */
function optionOf(names: readonly string[], value: unknown): string[] {
  const long = `--${names.join('-').replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  if (Array.isArray(value)) return [long, value.join(',')];
  if (typeof value !== 'object' || value === null) return [long, String(value)];
  return Object.entries(value).flatMap(([name, one]) => [long, `${name}=${one}`]);
}
