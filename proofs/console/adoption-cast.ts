// A shelter's animals, and those who want them: with long names, long answers, and something of everything that needs a person.

import type { PersonCaller } from '../../service/src/access/principals/principals.ts';
import { actOnApplication } from '../../service/src/adoption/applications/applications.ts';
import { startBulkEnd } from '../../service/src/adoption/applications/bulk-ends.ts';
import { submitApplication } from '../../service/src/adoption/applications/submissions.ts';
import { findOrderedPets, placeOrder } from '../../service/src/adoption/orders/orders.ts';
import type { Question } from '../../service/src/adoption/questions/question-schemas.ts';
import { setQuestions } from '../../service/src/adoption/questions/questions.ts';
import { holdPet } from '../../service/src/animals/pets/holds.ts';
import { createPet } from '../../service/src/animals/pets/pets.ts';
import type { Dependencies } from '../../service/src/dependencies.ts';
import { theService } from '../../service/src/domain/actor.ts';

const questions: readonly Question[] = [
  { id: 'home', text: 'Where would the animal live?', type: 'choice', options: ['House with a garden', 'Flat', 'Farm'], required: true },
  {
    id: 'fence',
    text: 'How high is the fence around your garden?',
    type: 'line',
    required: true,
    onlyIf: { question: 'home', is: 'House with a garden' },
  },
  {
    id: 'others',
    text: 'Which other animals live with you?',
    type: 'choices',
    options: ['Dogs', 'Cats', 'Rabbits', 'Birds', 'Others'],
    required: false,
  },
  { id: 'children', text: 'Do children live with you?', type: 'yes_no', required: true },
  {
    id: 'alone',
    text: 'For how many hours of a usual working day would the animal be alone, and who looks after it when you travel?',
    type: 'text',
    required: true,
  },
  { id: 'why', text: 'Why this animal?', type: 'text', required: false },
];

const long =
  'We have wanted a companion for years, and now that we both work from home three days a week there is always somebody there. My sister lives next door and has looked after our last dog, Donaudampfschifffahrtsgesellschaftskapitän, for fourteen years.\n\nWe know that the first weeks are hard.';

const names = [
  'Ada Lovelace',
  'Maria-Theresia von Habsburg-Lothringen und zu Schwarzenberg-Waldburg',
  'عائشة بنت أحمد',
  'Bo',
  'Wolfeschlegelsteinhausenbergerdorff',
];

const answersOf = (i: number) => ({
  home: i % 2 === 0 ? 'House with a garden' : 'Flat',
  ...(i % 2 === 0 && { fence: '1.80 m' }),
  others: i % 3 === 0 ? ['Dogs', 'Cats'] : [],
  children: i % 2 === 1,
  alone: i % 2 === 0 ? long : 'Two. My mother comes by.',
  ...(i % 4 === 0 && { why: `${long} ${long}` }),
});

interface Staff {
  readonly caller: PersonCaller;
  readonly shelterId: bigint;
}

/** How many want the most wanted animal. */
interface Crowd {
  readonly applicants: number;
}

export interface AdoptionCast {
  /** Of the animal that most people want. */
  readonly wantedId: bigint;
  /** An application that waits for a decision. */
  readonly waitingId: bigint;
}

export async function addAdoptionCast(
  { db, catalogue, config: { orderExpirySeconds } }: Dependencies,
  { caller, shelterId }: Staff,
  { applicants }: Crowd,
): Promise<AdoptionCast> {
  await setQuestions(db, shelterId, questions, { key: caller, by: caller, expect: () => undefined });
  const add = (name: string) =>
    catalogue.transaction(
      (tx) => createPet(tx, { name, categoryId: 1n }, caller, { categories: 'open', shelterId, registrant: undefined }),
      theService,
    );
  const apply = (petId: bigint, i: number) =>
    db.transaction(
      (tx) =>
        submitApplication(
          tx,
          {
            petId,
            adopter: {
              name: names[i % names.length] ?? '',
              email: `somebody.with.a.long.address.${i}@adopters-of-the-danube.example`,
              phone: `+43 1 555 01 ${i}`,
            },
            answers: answersOf(i),
            confirmed: true,
          },
          caller,
          { clientId: caller.clientId, bounds: caller.bounds, mails: true },
        ),
      theService,
    );
  const decide = (id: bigint, action: 'review' | 'accept' | 'decline', message?: string) =>
    catalogue.transaction((tx) => actOnApplication(tx, id, action, caller, { message, orderExpirySeconds }), theService);

  const biscuit = await add('Biscuit');
  const [first, waiting] = [await apply(biscuit.id, 0), await apply(biscuit.id, 1), await apply(biscuit.id, 2)];
  await decide(first.id, 'review');
  const wanted = await add('Prinzessin Lillifee von der Donau-Auen, genannt Lilli');
  for (let i = 0; i < applicants; i += 1) await apply(wanted.id, i);
  const promised = await add('Maximilian');
  const { id } = await apply(promised.id, 1);
  await decide(id, 'accept');
  await decide((await apply(promised.id, 4)).id, 'decline', 'Maximilian needs a home without other dogs.');
  const ordered = await add('Mia');
  await catalogue.transaction(
    (tx) =>
      placeOrder(tx, { petId: ordered.id, adopter: { name: names[1] ?? '', email: 'order@adopters.example' } }, caller, {
        client: caller,
        expiresInSeconds: 7_200,
      }),
    theService,
  );
  const held = await add('Rex');
  await holdPet(catalogue, held.id, { reason: 'medical', until: new Date(Date.now() + 60_000).toISOString() }, caller, {
    findOrderedPets,
    nowMs: Date.now(),
  });
  await apply(held.id, 3);
  const ofRex = { clientId: caller.clientId, petId: held.id };
  await catalogue.transaction((tx) => startBulkEnd(tx, caller, caller, ofRex), theService);
  return { wantedId: wanted.id, waitingId: waiting.id };
}
