import { inspect } from 'node:util';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  type AdopterMailKind,
  applicationMailReader,
  cancelAdopterMail,
  remindShelters,
  tellOfStatus,
  unansweredDays,
} from '../../../src/adoption/applications/application-mail.ts';
import { mailTexts } from '../../../src/adoption/applications/application-mail-texts.ts';
import type { Application } from '../../../src/adoption/applications/application-schemas.ts';
import { theService } from '../../../src/domain/actor.ts';
import { closedReasonNames } from '../../../src/domain/application-states.ts';
import { addPet } from '../../adoption-steps.ts';
import { addShelter, confirmShelters } from '../../shelter-steps.ts';
import { openTestStore } from '../../test-store.ts';

const store = await openTestStore();
const { db } = store.dependencies;
const partner = await store.createKey();
const shelter = BigInt(await addShelter(store));
const { id: petId } = await addPet(store, partner);
await store.write(
  `update shelters set name = 'Danube Shelter', email = 'hello@danube.example', phone = '+43 1 555 01 23' where id = $1`,
  shelter,
);
await confirmShelters(store);
await store.write(`update pets set name = 'Biscuit', shelter_id = $2 where id = $1`, petId, shelter);

const read = applicationMailReader({
  links: {
    pageUrl: (id) => `https://api.example.org/a/see-${id}`,
    confirmUrl: (id) => `https://api.example.org/a/confirm-${id}`,
    applicationsList: (id) => ({ url: `https://api.example.org/v1/applications?shelterId=${id}`, reader: 'programs' }),
  },
  store: 'Danube Shelters',
  language: 'en',
  applicationExpiryDays: 60,
});
const say = (kind: string, subjectId: bigint) => read(db, { id: 1n, kind, subjectId, createdAt: new Date(0), recipient: null });

interface Given {
  readonly status: string;
  readonly closedReason?: string;
  readonly message?: string;
  readonly name?: string | null;
  readonly isMailed?: boolean;
  readonly daysAgo?: number;
  /** By default unless it is `unconfirmed`. */
  readonly isConfirmed?: boolean;
}

let email = 0;
async function apply({
  status,
  closedReason,
  message,
  name = 'Ada Lovelace',
  isMailed = true,
  daysAgo = 0,
  isConfirmed = status !== 'unconfirmed',
}: Given): Promise<bigint> {
  const orders =
    status === 'accepted'
      ? await store.write<{ id: bigint }>(
          `insert into orders (client_id, pet_id, status, adopter_name, adopter_email, expires_at) values ($1, $2, 'approved', 'Ada', 'a@example.org', now()) returning id`,
          partner.clientId,
          petId,
        )
      : [];
  email += 1;
  const [row] = await store.write<{ id: bigint }>(
    `insert into applications (client_id, pet_id, shelter_id, status, is_mailed, closed_reason, message, adopter_name, adopter_email, adopter_address, answers, order_id, acted_at, is_confirmed)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9, '[]', $10, now() - make_interval(days => $11), $12) returning id`,
    partner.clientId,
    petId,
    shelter,
    status,
    isMailed,
    closedReason ?? null,
    message ?? null,
    name,
    name === null ? null : `ada${email}@example.org`,
    orders[0]?.id ?? null,
    daysAgo,
    isConfirmed,
  );
  if (!row) throw new Error('not inserted');
  return row.id;
}
const queued = () =>
  store.read<{ kind: string; subjectId: bigint }>(`select kind, subject_id as "subjectId" from mail where state = 'queued' order by id`);

beforeEach(async () => {
  await store.write('delete from mail');
  await store.write('delete from applications');
  await store.asOwner('delete from orders');
});

describe('what an adopter is told', () => {
  const cases: ReadonlyArray<readonly [AdopterMailKind, Given]> = [
    ['received', { status: 'submitted' }],
    ['accepted', { status: 'accepted' }],
    ['declined', { status: 'declined' }],
    ...closedReasonNames.map((closedReason) => ['closed', { status: 'closed', closedReason }] as const),
  ];

  test.each(cases)('%s of %j names the animal and the shelter, how to reach it and the page', async (kind, given) => {
    const id = await apply(given);
    const message = await say(kind, id);
    expect(message).toMatchObject({
      to: { address: expect.stringContaining('@example.org') },
      replyTo: { address: 'hello@danube.example' },
    });
    expect(message?.subject).toContain('Biscuit');
    for (const part of ['Danube Shelter', 'hello@danube.example', '+43 1 555 01 23']) expect(message?.text).toContain(part);
    expect(message?.text).toContain(`\n\nhttps://api.example.org/a/see-${id}\n\n`);
    expect(message?.text).not.toMatch(/[{}]|undefined|null/);
  });

  test('each reason of a closed one has words of its own', () => {
    const texts = closedReasonNames.map((reason) => mailTexts.en.closed[reason].paragraphs[0]);
    expect(new Set(texts).size).toBe(closedReasonNames.length);
  });

  test('a message of staff is quoted whole', async () => {
    const id = await apply({ status: 'declined', message: 'Biscuit needs {name}.\nAnd no cats.' });
    expect((await say('declined', id))?.text).toContain('Danube Shelter writes:\n\n> Biscuit needs {name}.\n> And no cats.\n\n');
  });

  test('a form with the address of another writes that person nothing', async () => {
    const id = await apply({ status: 'unconfirmed', name: 'Win at https://evil.example' });
    const message = await say('confirm', id);
    expect(message?.to.name).toBeUndefined();
    expect(inspect(message)).not.toMatch(/Win|evil/);
  });

  test.each([['confirm', { status: 'unconfirmed' }] as const, ...cases])(
    '%s of %j to an address that nobody has confirmed names the store and one link, and nothing else',
    async (kind, given) => {
      const id = await apply({ ...given, message: 'https://evil.example', isConfirmed: false });
      const message = await say(kind, id);
      expect(message).toMatchObject({ to: { address: expect.stringMatching(/^ada\d+@/) }, isUnconfirmed: true });
      expect(message?.to.name).toBeUndefined();
      expect(message?.replyTo).toBeUndefined();
      expect(message?.text.match(/https?:\S+/g)).toEqual([`https://api.example.org/a/confirm-${id}`]);
      expect(message?.text).toContain('Danube Shelters');
      expect(inspect(message)).not.toMatch(/Biscuit|Danube Shelter\b|danube\.example|555|Ada|Lovelace|evil|[{}]{2}|undefined|null/);
    },
  );

  test('what a shelter changes is in mail once store staff have confirmed it, and what it removes is not in mail any more', async () => {
    const id = await apply({ status: 'submitted' });
    const written = async () => {
      const message = await say('received', id);
      return `${message?.subject} ${message?.text} ${message?.replyTo?.address}`;
    };
    await store.write(
      `update shelters set name = 'Refund', email = 'refund@evil.example', phone = '+43 900', website = 'https://evil.example/' where id = $1`,
      shelter,
    );
    expect(await written()).toContain('Danube Shelter');
    expect(await written()).toContain('hello@danube.example');
    expect(await written()).not.toMatch(/Refund|evil|900/);
    await store.write('update shelters set phone = null where id = $1', shelter);
    expect(await written()).not.toMatch(/555/);
    await store.write(`update confirmed_shelters set name = null where shelter_id = $1`, shelter);
    expect(await written()).toContain(`Shelter ${shelter} has your application`);
    await store.write(
      `update shelters set name = 'Danube Shelter', email = 'hello@danube.example', phone = '+43 1 555 01 23', website = null where id = $1`,
      shelter,
    );
    await confirmShelters(store);
    expect(await written()).toContain('+43 1 555 01 23');
  });

  test.each([
    'J. R. Ewing',
    "O'Neill",
    "Anna-Maria d'Este",
    'Max Müller jun.',
    'Dr. Ada Lovelace, MSc',
    'Sammy Davis, Jr.',
    'Ada & Bob Lovelace',
    '山田 太郎',
  ])('%s is a name, in the greeting and beside the address', async (name) => {
    const message = await say('received', await apply({ status: 'submitted', name }));
    expect(message?.to.name).toBe(name);
    expect(message?.text).toContain(`Hello ${name},\n`);
  });

  test('initials are a name, and no address', async () => {
    const message = await say('received', await apply({ status: 'submitted', name: 'J.R.R. Tolkien' }));
    expect(message?.to.name).toBe('J. R. R. Tolkien');
  });

  test.each([
    ['evil。example evil·example evil．example evil․example evil｡example'],
    ['evil·example'],
    ['evil｡example'],
    ['Visit https://evil.example +43 900 123'],
    ['Ada +43 (900) 12-34'],
    ['Ada ０９００１２３４'],
    ['Win 1000 EUR at evil. example call us'],
    ['Win: call the bank'],
    ['Ada\n\nwww.evil.example a@evil.example'],
    ['t.co/abc'],
    ['evil.e.example'],
    ['Somebody who has a very long story to tell to everybody who reads this'],
  ])('what is unlike a name, such as %s, is nowhere in the mail', async (name) => {
    for (const [kind, status] of [
      ['received', 'submitted'],
      ['closed', 'withdrawn'],
    ] as const) {
      const message = await say(kind, await apply({ status, name }));
      expect(message?.to.name).toBe('');
      expect(message?.text).toMatch(/^Hello,\n/);
      expect(inspect(message)).not.toMatch(/evil|900|1000|０|bank|t\.co|story/);
    }
  });

  test.each([
    ['Rex 2', 'Rex 2'],
    ['Bonnie & Clyde', 'Bonnie & Clyde'],
    ['Win 1000 EUR at evil. example', undefined],
    ['Log in at evil.example', undefined],
  ])('an animal called %s', async (name, said) => {
    await store.write('update pets set name = $1 where id = $2', name, petId);
    const message = await say('received', await apply({ status: 'submitted' }));
    await store.write(`update pets set name = 'Biscuit' where id = $1`, petId);
    expect(message?.subject).toBe(`Your application for ${said ?? `Animal ${petId}`}`);
    expect(inspect(message)).not.toMatch(/evil|1000/);
  });

  test('a name is on one line', async () => {
    const id = await apply({ status: 'submitted', name: 'Ada\n\nLovelace' });
    expect((await say('received', id))?.text).toMatch(/^Hello Ada Lovelace,\n/);
  });

  test.each([
    ['confirm', 'submitted'],
    ['received', 'withdrawn'],
    ['received', 'declined'],
    ['accepted', 'withdrawn'],
    ['declined', 'reviewing'],
    ['closed', 'reviewing'],
  ] as const)('nothing is said of %s once it is %s', async (kind, status) => {
    expect(await say(kind, await apply({ status }))).toBeUndefined();
  });

  test('nothing is said to an adopter who was erased, or is not told by mail', async () => {
    expect(await say('declined', await apply({ status: 'declined', name: null }))).toBeUndefined();
    expect(await say('received', await apply({ status: 'submitted', isMailed: false }))).toBeUndefined();
    expect(await say('received', 4_711n)).toBeUndefined();
  });

  test('mail is queued for those who are told by mail, and cancelled for some', async () => {
    await db.transaction(
      (tx) =>
        tellOfStatus(
          tx,
          [
            { id: 1n, isMailed: true },
            { id: 2n, isMailed: false },
            { id: 3n, isMailed: true },
          ].map((one) => ({ ...one, shelterId: shelter, status: 'closed' }) as Application),
          'service',
        ),
      theService,
    );
    await db.transaction((tx) => cancelAdopterMail(tx, [3n]), theService);
    expect(await queued()).toEqual([{ kind: 'closed', subjectId: 1n }]);
  });
});

describe('what a shelter is told', () => {
  test('is how many wait, and which have no answer, without a name of an adopter', async () => {
    const old = await apply({ status: 'reviewing', daysAgo: 20 });
    for (let i = 0; i < 12; i += 1) await apply({ status: 'submitted', daysAgo: i === 0 ? 15 : 0 });
    const message = await say('shelter', shelter);
    expect(message).toMatchObject({
      to: { address: 'hello@danube.example', name: 'Danube Shelter' },
      subject: '12 applications are waiting for you',
    });
    expect(message?.text).toContain('12 applications to Danube Shelter have not been looked at yet.');
    expect(message?.text).toContain(
      `For 2 applications nobody has done anything for 14 days or longer:\n- application ${old}, for Biscuit\n- application`,
    );
    expect(message?.text).toContain(`https://api.example.org/v1/applications?shelterId=${shelter}\n`);
    expect(inspect(message)).not.toMatch(/ada|lovelace/i);
    expect(message?.text).toContain('closed, and its adopter is told');
  });

  test('names ten of those without an answer, and counts the others', async () => {
    for (let i = 0; i < 12; i += 1) await apply({ status: 'submitted', daysAgo: 15 });
    const { text = '' } = (await say('shelter', shelter)) ?? {};
    expect(text.match(/^- application /gm)).toHaveLength(10);
    expect(text).toContain('\n- and 2 more\n');
  });

  test('is nothing if nothing waits, or the shelter has no address', async () => {
    expect(await say('shelter', shelter)).toBeUndefined();
    const other = BigInt(await addShelter(store));
    await apply({ status: 'submitted' });
    await store.write('update applications set shelter_id = $1', other);
    await store.write('update shelters set email = null where id = $1', other);
    expect(await say('shelter', other)).toBeUndefined();
  });

  test('is queued once, however many submit', async () => {
    await Promise.all(
      Array.from({ length: 10 }, () =>
        db.transaction(
          (tx) => tellOfStatus(tx, [{ id: 1n, shelterId: shelter, status: 'submitted', isMailed: true } as Application], 'client'),
          theService,
        ),
      ),
    );
    expect((await queued()).filter(({ kind }) => kind === 'shelter')).toEqual([{ kind: 'shelter', subjectId: shelter }]);
  });

  test('a reminder comes once a day at most, for applications that have become old since yesterday', async () => {
    await apply({ status: 'submitted', daysAgo: unansweredDays - 1 });
    await apply({ status: 'submitted', daysAgo: unansweredDays + 5 });
    await remindShelters(db);
    expect(await queued()).toEqual([]);
    await apply({ status: 'reviewing', daysAgo: unansweredDays });
    await remindShelters(db);
    await remindShelters(db);
    expect((await queued()).filter(({ kind }) => kind === 'shelter')).toEqual([{ kind: 'shelter', subjectId: shelter }]);
    await store.write(`update mail set created_at = now() - interval '25 hours', state = 'sent', ended_at = now(), attempts = 1`);
    await remindShelters(db);
    expect((await queued()).filter(({ kind }) => kind === 'shelter')).toEqual([{ kind: 'shelter', subjectId: shelter }]);
  });
});
