import { expect, test } from 'vitest';
import { Staff } from './adoption-site.ts';
import { addShelter } from './console-steps.ts';
import { hiddenOf, openTestConsole, wordsOf } from './test-console.ts';

const rounds = Number(process.env['ROUNDS'] ?? 8);
const site = await openTestConsole();
const shelterId = await addShelter(site, 'Danube Shelter', 'Europe/Vienna');
const arrive = (name: string) => site.arrive({ role: 'staff', shelterId, name });
const [carl, berta] = [await arrive('Carl'), await arrive('Berta')];
const staff = new Staff(site, carl.person);

interface Race {
  readonly name: string;
  /** The page and the form of the one and of the other. */
  readonly prepare: () => Promise<ReadonlyArray<readonly [page: string, action: string]>>;
  /** Of what is left open: a client may have only so much. */
  readonly tidy?: () => Promise<unknown>;
  /** What is said to the second. */
  readonly told: RegExp;
}

const who = '(Carl|Berta)';
const acceptOf = ({ id }: { id: bigint }) => [`/applications/${id}/accept`, `/applications/${id}/accept`] as const;

let ordered = 0n;
const races: readonly Race[] = [
  {
    name: 'one order is completed and cancelled',
    prepare: async () => {
      const { orderId } = await staff.decide((await staff.apply((await staff.addPet()).id)).id, 'accept');
      const page = `/orders/${orderId}`;
      return [
        [`${page}/hand-over`, `${page}/complete`],
        [page, `${page}/cancel`],
      ];
    },
    told: new RegExp(`Nothing was changed. ${who} has (handed the animal over|cancelled it)`),
  },
  {
    name: 'one order is approved twice',
    prepare: async () => {
      ordered = (await staff.placeOrder((await staff.addPet()).id)).id;
      const page = `/orders/${ordered}`;
      return [
        [page, `${page}/approve`],
        [page, `${page}/approve`],
      ];
    },
    tidy: () => staff.cancel(ordered),
    told: new RegExp(`Nothing was changed. ${who} has approved it`),
  },
  {
    name: 'two adopters are accepted for one animal',
    prepare: async () => {
      const { id } = await staff.addPet();
      return [acceptOf(await staff.apply(id)), acceptOf(await staff.apply(id))];
    },
    told: new RegExp(
      `Nothing was changed. Application \\d+, of Ada Lovelace : ${who} has accepted it, .* Biscuit is promised to Ada Lovelace`,
    ),
  },
];

test.each(races)(
  'two of the staff at once: $name; one act wins, and the other is told in words who it was',
  async ({ prepare, told, tidy }) => {
    const winners = [0, 0];
    for (let i = 0; i < rounds; i += 1) {
      const sides = await prepare();
      const forms = await Promise.all(
        sides.map(async ([page, action], side) => hiddenOf((await ([carl, berta][side] ?? carl).open(page)).text, action)),
      );
      const answers = await Promise.all(sides.map(([, action], side) => ([carl, berta][side] ?? carl).post(action, forms[side] ?? {})));
      const statuses = answers.map(({ status }) => status);
      expect(statuses.toSorted()).toEqual([303, 409]);
      winners[statuses.indexOf(303)] = (winners[statuses.indexOf(303)] ?? 0) + 1;
      expect(wordsOf(answers.find(({ status }) => status === 409)?.text ?? '')).toMatch(told);
      await tidy?.();
    }
    expect((winners[0] ?? 0) + (winners[1] ?? 0)).toBe(rounds);
    if (rounds > 100) console.info(`${rounds} rounds: the first won ${winners[0]}, the second ${winners[1]}`);
  },
  60_000 + rounds * 1_000,
);
