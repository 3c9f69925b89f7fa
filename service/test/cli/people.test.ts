import { beforeAll, describe, expect, test } from 'vitest';
import { useInvitation } from '../../src/access/people/links.ts';
import { theService } from '../../src/domain/actor.ts';
import { origin } from '../people-steps.ts';
import { openTestStore } from '../test-store.ts';
import { homeward, homewardJson } from './homeward-command.ts';

const store = await openTestStore();
const { db } = store.dependencies;
const env = { ...store.env, HOMEWARD_CONSOLE_URL: 'https://console.example.org' };
const run = (...args: string[]) => homeward(args, { env });
const json = <T>(...args: string[]) => homewardJson<T>(args, env);

interface Invited {
  readonly id: number;
  readonly email: string;
  readonly url: string;
}

const tokenOf = (url: string) => url.slice(url.lastIndexOf('/') + 1);
const accept = (url: string) => db.transaction((tx) => useInvitation(tx, tokenOf(url), origin), theService);

let admin: Invited;

beforeAll(async () => {
  admin = await json('people', 'invite', 'Ada@example.org', '--role', 'admin');
  await accept(admin.url);
});

describe('homeward people', () => {
  test('invites someone to a shelter, with a link to the console that works once', async () => {
    const { status, stdout } = await run('people', 'invite', 'grace@example.org', '--role', 'staff', '--shelter', '1');
    expect(stdout).toMatch(
      /^Invited grace@example\.org as staff of shelter 1\. The link works once, until \S+Z:\n\n {2}https:\/\/console\.example\.org\/invitation\/[\w-]{43}\n$/,
    );
    expect(status).toBe(0);
    const url = stdout.trim().split(/\s+/).at(-1) ?? '';
    expect(await accept(url)).toMatchObject({ role: 'staff', shelterId: 1n });
    await expect(accept(url)).rejects.toThrow('used before');
  });

  test('lists them, also of the store or a shelter alone', async () => {
    const emails = async (...args: string[]) => (await json<Invited[]>('people', 'list', ...args)).map(({ email }) => email);
    expect(await emails()).toEqual(['ada@example.org', 'grace@example.org']);
    expect(await emails('--store')).toEqual(['ada@example.org']);
    expect(await emails('--shelter', '1')).toEqual(['grace@example.org']);
    expect((await run('people', 'list')).stdout).toMatch(/grace@example\.org +grace +staff +shelter 1 +active/);
  });

  test('makes a link to sign in', async () => {
    expect((await run('people', 'link', 'ADA@example.org')).stdout).toMatch(
      /^Signs ada@example\.org in, once, until \S+Z:\n\n {2}https:\/\/console\.example\.org\/link\/[\w-]{43}\n$/,
    );
  });

  test('changes the role', async () => {
    expect((await run('people', 'change', 'grace@example.org', '--role', 'volunteer')).stdout).toBe(
      'grace@example.org (2) is volunteer of shelter 1.\n',
    );
  });

  test('prints the link that a new role waits for, makes it again, and takes the role back', async () => {
    const { stdout } = await run('people', 'change', 'grace@example.org', '--role', 'admin', '--store');
    expect(stdout).toMatch(
      /^grace@example\.org \(2\) is volunteer of shelter 1, and becomes admin of the store by this link\. It works once, until \S+Z, and ends what the person signs in with now:\n\n {2}https:\/\/console\.example\.org\/link\/new-role\/[\w-]{43}\n$/,
    );
    expect(await json('people', 'link', 'grace@example.org')).toMatchObject({
      kind: 'raise',
      url: expect.stringContaining('/link/new-role/'),
    });
    expect((await run('people', 'list')).stdout).toContain('active, admin of the store by a link');
    expect((await run('people', 'change', '2', '--role', 'volunteer', '--shelter', '1')).stdout).toContain('is volunteer of shelter 1.');
    expect(await json('people', 'list', '--shelter', '1')).toMatchObject([{ role: 'volunteer', raise: null, invitedBy: null }]);
  });

  test.each([
    [['invite', 'not an address', '--role', 'staff'], 'is not an e-mail address'],
    [['invite', 'ada@example.org', '--role', 'staff'], 'someone who works here already'],
    [['invite', 'alan@example.org', '--role', 'volunteer'], 'The store itself has no volunteers'],
    [['invite', 'alan@example.org', '--role', 'staff', '--shelter', '99'], 'There is no shelter 99'],
    [['change', 'nobody@example.org', '--role', 'staff'], 'There is no person'],
    [['change', '1'], 'Give what to change'],
    [['remove', '1'], 'the last admin of the store'],
    [['link', 'nobody@example.org'], 'Nobody has the address'],
  ])('%j is a mistake that changes nothing', async (args, words) => {
    const before = await store.read('select count(*) from audit');
    expect(await run('people', ...args)).toMatchObject({ status: 2, stderr: expect.stringContaining(words) });
    expect(await store.read('select count(*) from audit')).toEqual(before);
  });

  test('removes someone, with a line in the journal', async () => {
    const { stdout, stderr } = await run('people', 'remove', 'grace@example.org');
    expect(stdout).toBe('grace@example.org (2) was removed.\n');
    expect(stderr).toContain('"act":"person_removed","person":2');
  });
});

describe('homeward audit list', () => {
  test('shows the newest first: who, from where, what', async () => {
    const acts = await json<Array<Record<string, unknown>>>('audit', 'list');
    expect(acts.map(({ act }) => act)).toEqual([
      'person.removed',
      'person.raise_withdrawn',
      'person.link_made',
      'person.raise_offered',
      'person.changed',
      'person.link_made',
      'person.joined',
      'person.invited',
      'client.created',
      'person.joined',
      'person.invited',
      'client.created',
    ]);
    expect(acts[0]).toMatchObject({
      recordedIn: 'audit',
      target: 'person',
      targetId: 2,
      login: expect.any(String),
      host: expect.any(String),
    });
    expect(acts[4]).toMatchObject({ before: { role: 'staff' }, after: { role: 'volunteer' } });
    expect(acts[6]).toMatchObject({ personId: 2, network: '192.0.2.0/24', login: null });
  });

  test('goes on after each page, so that each act is shown once', async () => {
    const all = await json<Array<{ position: string }>>('audit', 'list');
    const walked: string[] = [];
    for (let before: string | undefined; walked.length < 50; ) {
      const page = await json<Array<{ position: string }>>('audit', 'list', '--limit', '2', ...(before ? ['--before', before] : []));
      if (page.length === 0) break;
      walked.push(...page.map(({ position }) => position));
      before = page.at(-1)?.position;
    }
    expect(walked).toEqual(all.map(({ position }) => position));
  });

  test.each([
    [['--person', 'ada@example.org'], ['person.joined']],
    [
      ['--act', 'person.link_made'],
      ['person.link_made', 'person.link_made'],
    ],
    [
      ['--target', 'person 2', '--since', '1h'],
      [
        'person.removed',
        'person.raise_withdrawn',
        'person.link_made',
        'person.raise_offered',
        'person.changed',
        'person.joined',
        'person.invited',
      ],
    ],
    [['--until', '1h'], []],
    [['--target', 'shelter 1'], []],
  ])('with %j shows %j', async (args, expected) => {
    expect((await json<Array<{ act: string }>>('audit', 'list', ...args)).map(({ act }) => act)).toEqual(expected);
  });

  test.each([
    [['--before', 'yesterday'], '--before must be a position'],
    [['--target', 'adopters 1 2'], '--target must be one of'],
    [['--act', 'nothing'], '--act must be one of'],
  ])('%j is a mistake', async (args, words) => {
    expect(await run('audit', 'list', ...args)).toMatchObject({ status: 2, stderr: expect.stringContaining(words) });
  });
});
