// Applications for animals of the development store, in every state, with answers: the same on every machine.
import type { Application, Int64, Pet, Question, Store } from '../sdk/src/index.ts';
import { mulberry32 } from './dev-animals.ts';
import { type Asking, devAsking } from './dev-questions.ts';

/** What staff or the adopter do with an application after it was sent. */
type Act = 'wait' | 'review' | 'decline' | 'accept' | 'complete' | 'withdraw';

/** What becomes of those who apply for an animal, for one animal after another. */
const plans: ReadonlyArray<readonly Act[]> = [
  ['accept', 'wait', 'review', 'wait', 'decline'],
  ['review', 'complete', 'wait', 'withdraw', 'wait'],
  ['review', 'wait', 'wait', 'decline', 'wait'],
  ['decline', 'accept', 'review', 'wait', 'withdraw'],
  ['wait', 'review', 'wait', 'wait', 'review'],
  ['decline', 'wait', 'review', 'wait', 'wait'],
  ['wait', 'complete'],
  ['accept', 'wait'],
  ...Array.from({ length: 8 }, (_, i): Act[] => (i % 2 === 0 ? ['wait', 'review'] : ['wait', 'wait'])),
  ...Array.from({ length: 10 }, (_, i): Act[] => [i % 3 === 0 ? 'review' : 'wait']),
];
const firstNames =
  'Aoife Conor Niamh Oisín Saoirse Declan Maeve Rory Ciara Fionn Orla Eoin Sinéad Tadhg Gráinne Cian Róisín Liam Nuala Ronan'.split(' ');
const lastNames = 'Byrne Walsh Kelly Doyle Murphy Nolan Quinn Farrell Keane Brady Moran Lynch'.split(' ');
// biome-ignore format: one line each
const homes = [
  'A quiet house at the end of a road. I work from home, and walk for an hour every morning, whatever the weather.',
  'We are two teachers with long summers, and a sofa that has been empty since our old dog died in spring.',
  'Three children, one trampoline, a great deal of noise, and somebody who is always in the kitchen.',
  'A small flat by the harbour, with a window that gets the sun until four. There is no garden, but the beach is across the road.',
  'My mother lives with us and has had animals all her life. She would be the one at home.',
  'We have fostered twice, and both times it was hard to give them back. This time we would like to keep one.',
];
const message =
  'Thank you for your application. We have found a home that is nearer to what is needed here. Please look at the others, too.';
const note = 'Called on the telephone: a visit is planned for Saturday.';

/** Lets some shelters take applications, and adds sixty. Those that the store has already are left out. */
export async function addApplications(store: Store, signal?: AbortSignal): Promise<void> {
  const calling = signal ? { signal } : {};
  const known = await readApplications(store);
  const animals = await animalsOfAsking(store, known, calling);
  const random = mulberry32(60);
  let number = 0;
  for (const [index, plan] of plans.entries()) {
    const found = animals[index];
    const sent: Array<{ application: Application; act: Act }> = [];
    for (const act of plan) {
      const adopter = adopterOf(number, random);
      number += 1;
      const answers = found && answersTo(found.asking.questions, random);
      if (!found || !answers || known.some((one) => one.adopter?.email === adopter.email)) continue;
      const application = await store.applications.submit({ petId: found.pet.id, adopter, answers }, calling);
      sent.push({ application, act });
    }
    // Choosing one comes last: what is adopted closes the others.
    const inOrder = sent.toSorted((a, b) => Number(isChoice(a.act)) - Number(isChoice(b.act)));
    for (const { application, act } of inOrder) await carryOut(store, application.id, act, calling);
  }
}

const isChoice = (act: Act): boolean => act === 'accept' || act === 'complete';

async function readApplications(store: Store): Promise<Application[]> {
  const known: Application[] = [];
  for await (const application of store.applications.list()) known.push(application);
  return known;
}

interface Animal {
  readonly pet: Pet;
  readonly asking: Asking;
}

/** The animals that may be applied for, those that may be promised first. */
async function animalsOfAsking(store: Store, known: readonly Application[], calling: { signal?: AbortSignal }): Promise<Animal[]> {
  const animals: Animal[] = [];
  for await (const { id, name, adoption } of store.shelters.list()) {
    const asking = devAsking.find(({ shelter }) => shelter === name);
    if (!asking) continue;
    if (adoption !== 'application') {
      await store.shelters.setQuestions(id, { questions: [...asking.questions] }, calling);
      await store.shelters.update(id, { adoption: 'application', applicationNote: asking.note }, calling);
    }
    for (const status of ['available', 'pending', 'sold'] as const)
      for await (const { pet } of store.listings.search({ shelterId: id, status })) animals.push({ pet, asking });
  }
  // What an interrupted start has changed does not change the order.
  const isApplied = ({ id }: Pet) => known.some(({ petId }) => petId === id);
  const rank = (pet: Pet) => (pet.status === 'available' || isApplied(pet) ? 0 : pet.status === 'pending' ? 1 : 2);
  return animals.filter(({ pet }) => rank(pet) < 2).sort((a, b) => rank(a.pet) - rank(b.pet) || Number(a.pet.id) - Number(b.pet.id));
}

async function carryOut(store: Store, id: Int64, act: Act, calling: { signal?: AbortSignal }): Promise<void> {
  if (act === 'wait') return;
  if (act === 'withdraw') return void (await store.applications.withdraw(id, calling));
  if (act === 'decline') return void (await store.applications.decline(id, { ...calling, message }));
  await store.applications.review(id, calling);
  if (act === 'review') return void (await store.applications.note(id, note, calling));
  const { orderId } = await store.applications.accept(id, calling);
  if (act === 'complete' && orderId !== null) await store.orders.complete(orderId, calling);
}

function adopterOf(number: number, random: () => number): { name: string; email: string; phone?: string } {
  const [first = '', last = ''] = [firstNames[number % firstNames.length], lastNames[(number * 7) % lastNames.length]];
  const address = `${first}.${last}.${number}`
    .normalize('NFD')
    .replaceAll(/[^\w.]/g, '')
    .toLowerCase();
  // The numbers are reserved for fiction.
  const phone = random() < 0.6 ? { phone: `+353 20 911 ${String(1_000 + number)}` } : {};
  return { name: `${first} ${last}`, email: `${address}@example.org`, ...phone };
}

function answersTo(questions: readonly Question[], random: () => number): Record<string, string | boolean | string[]> {
  const answers = new Map<string, string | boolean | string[]>();
  for (const { id, type, options = [], onlyIf } of questions) {
    if (onlyIf && answers.get(onlyIf.question) !== onlyIf.is) continue;
    if (type === 'yes_no') answers.set(id, random() < 0.6);
    else if (type === 'choices')
      answers.set(
        id,
        options.filter(() => random() < 0.3),
      );
    else if (type === 'choice') answers.set(id, pick(options, random));
    else answers.set(id, type === 'line' ? `${Math.ceil(random() * 7)}` : pick(homes, random));
  }
  return Object.fromEntries(answers);
}

const pick = (from: readonly string[], random: () => number): string => from[Math.floor(random() * from.length)] ?? '';
