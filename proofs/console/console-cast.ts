// A store's console with people of every role, of the store and of a shelter with a long name, and its animals.

import { linkUrl, mintMailedLink, useInvitation } from '../../service/src/access/people/links.ts';
import { invitePerson, type Manager, type Person } from '../../service/src/access/people/people.ts';
import { findSession, openSession } from '../../service/src/access/people/sessions.ts';
import { personCaller } from '../../service/src/access/principals/principals.ts';
import { findOrderedPets } from '../../service/src/adoption/orders/orders.ts';
import { nameCategory } from '../../service/src/animals/categories/categories.ts';
import { holdPet } from '../../service/src/animals/pets/holds.ts';
import { createPet } from '../../service/src/animals/pets/pets.ts';
import { writeProfile } from '../../service/src/animals/profiles/profiles.ts';
import { Seals } from '../../service/src/console/sessions/cookies.ts';
import { type Dependencies, openDependencies } from '../../service/src/dependencies.ts';
import { theService } from '../../service/src/domain/actor.ts';
import type { PetStatus } from '../../service/src/domain/pet-statuses.ts';
import type { ProfileChanges } from '../../service/src/domain/profile-fields.ts';
import { type Role, rightsOf } from '../../service/src/domain/roles.ts';
import { loadConfig } from '../../service/src/platform/config.ts';
import type { Store } from '../../testkit/store.ts';
import { addAdoptionCast } from './adoption-cast.ts';
import { addCrowd, makeFamous } from './crowd.ts';

export interface ConsoleCast extends AsyncDisposable {
  readonly url: string;
  readonly admin: Person;
  /** Admin of a shelter. */
  readonly keeper: Person;
  /** Admin of a shelter that has nothing yet. */
  readonly newcomer: Person;
  /** The page of the animal that most people want. */
  readonly wanted: string;
  /** The page of an application that waits for a decision. */
  readonly waiting: string;
  /** The pages of kennel cards: of the animal with photos, and of one with as long a name as there can be and none. */
  readonly cards: readonly string[];
  /** The URL of an invitation that nobody has accepted. */
  readonly invitation: string;
  /** The tokens of all links. */
  readonly secrets: readonly string[];
  /** A link that signs somebody in: the admin unless another is given. */
  makeLink(person?: Person): Promise<string>;
  /** The cookie of a new session. */
  makeCookie(person: Person): Promise<string>;
  log(): string;
}

/** For one animal: more than fit on a page. */
const applicants = 40;

const operator: Manager = {
  clientId: null,
  keyId: null,
  personId: null,
  shelterId: null,
  acts: rightsOf('admin', null)?.acts ?? [],
  origin: { login: 'operator', host: 'store-1' },
};

interface CastOptions {
  /** The folder of photos. */
  readonly photos: string;
  /** More of everything than fits on a page. */
  readonly isCrowded: boolean;
}

export async function openConsoleCast(store: Store, { photos, isCrowded }: CastOptions): Promise<ConsoleCast> {
  await using resources = new AsyncDisposableStack();
  const servers = { DATABASE_URL: store.postgres.url, REDIS_URL: store.redis.url };
  const config = loadConfig({ ...servers, LOG_LEVEL: 'silent', HOMEWARD_PHOTOS: photos });
  const dependencies = resources.use(await openDependencies(config));
  const { db, catalogue } = dependencies;
  const { url, log } = await store.openConsole();
  const secrets: string[] = [];
  const invite = (email: string, name: string, role: Role, shelterId: bigint | null) =>
    db.transaction((tx) => invitePerson(tx, operator, { email, name, role, shelterId }), theService);
  const join = async (...given: Parameters<typeof invite>) => {
    const { token } = await invite(...given);
    return db.transaction((tx) => useInvitation(tx, token, { network: 'unknown' }), theService);
  };
  const found = async (name: string) => {
    const created = JSON.parse(await store.homeward('shelters', 'create', '--name', name, '--json')) as { id: number };
    return BigInt(created.id);
  };
  const shelterId = await found('Tierschutzverein Donau-Auen für Hunde, Katzen und Kleintiere');
  const admin = await join('ada@store.example', 'Ada', 'admin', null);
  const keeper = await join('berta@danube.example', 'Carl-Friedrich von und zu Hohenstein-Schwarzenberg der Jüngere', 'admin', shelterId);
  const newcomer = await join('nora@new.example', 'Nora', 'admin', await found('Neues Tierheim'));
  await join('dora.with.a.very.long.address.that.does.not.fit@danube-shelter.example', 'Dora', 'volunteer', shelterId);
  const session = await db.transaction((tx) => openSession(tx, keeper.id, { from: '192.0.2.7', method: 'link' }), theService);
  const signedIn = await findSession(db, session.token);
  if (!signedIn) throw new Error('a new session is not found');
  const caller = personCaller(signedIn, '192.0.2.7');
  const { wantedId, waitingId } = await addAdoptionCast(dependencies, { caller, shelterId }, { applicants });
  if (isCrowded) await addCrowd(dependencies, { manager: operator, caller, shelterId });
  const { token } = await invite('eve@danube.example', 'Eve', 'staff', shelterId);
  secrets.push(token);
  const { shownId, longId } = await addAnimals({ db, catalogue }, shelterId);
  if (isCrowded) await makeFamous(dependencies, shownId, caller);
  const open = resources.move();
  return {
    url,
    admin,
    keeper,
    newcomer,
    cards: [shownId, longId].map((id) => `/animals/${id}/card`),
    wanted: `/applications/pets/${wantedId}`,
    waiting: `/applications/${waitingId}`,
    log,
    secrets,
    invitation: linkUrl(url, 'invitation', token),
    async makeLink(person = admin) {
      const minted = await db.transaction((tx) => mintMailedLink(tx, 'sign_in', person.id), theService);
      if (!minted) throw new Error('the person has gone');
      secrets.push(minted.token);
      return linkUrl(url, 'sign_in', minted.token);
    },
    async makeCookie({ id }) {
      const opened = await db.transaction((tx) => openSession(tx, id, { from: '192.0.2.8', method: 'link' }), theService);
      return `session=${new Seals(dependencies.secret).seal('session', opened.token)}`;
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

/** The newest comes first in lists, so it is the one whose pages are looked at: with a long name, a hold and everything that can be said. */
async function addAnimals(
  { db, catalogue }: Pick<Dependencies, 'db' | 'catalogue'>,
  shelterId: bigint,
): Promise<{ shownId: bigint; longId: bigint }> {
  await nameCategory(db, 1n, 'Dogs', theService);
  await nameCategory(db, 2n, 'Small animals, birds, reptiles and everything else that is none of the others', theService);
  const nowMs = Date.now();
  const add = (name: string, categoryId: bigint, status: PetStatus) =>
    catalogue.transaction(
      (tx) => createPet(tx, { name, categoryId, status }, theService, { categories: 'open', shelterId, registrant: undefined }),
      theService,
    );
  const { id: longId } = await add(
    'Freifräulein Hieronyma Donaudampfschifffahrtsgesellschaftskapitänin '.repeat(3).slice(0, 200),
    2n,
    'available',
  );
  const describe = (petId: bigint, changes: ProfileChanges) =>
    writeProfile({ db, catalogue }, petId, theService, { how: 'replace', changes, nowMs, expect: () => {} });
  const biscuit = await add('Biscuit', 1n, 'available');
  await describe(longId, { ...described, externalId: 'A-4712 in the old book', bondedWith: [biscuit.id] });
  await add('Mila', 77n, 'sold');
  const { id } = await add('Maximilian Archibald Theodor von der Löwenherz-Schmetterlingswiese “Maxi”', 2n, 'available');
  const until = new Date(nowMs + 30 * 86_400_000).toISOString();
  await holdPet(catalogue, id, { reason: 'medical', until, note: 'Stitches come out next week.' }, theService, { findOrderedPets, nowMs });
  await describe(id, { ...described, bondedWith: [longId, biscuit.id] });
  return { shownId: id, longId };
}

const described: ProfileChanges = {
  description: 'Loves long walks.\nShy with strangers, and happy about everybody who takes time.',
  breeds: { primary: 'Donaudampfschifffahrtsgesellschaftshund', secondary: 'Nova Scotia Duck Tolling Retriever', mixed: 'yes' },
  birthDate: '2021-05-01',
  sex: 'male',
  size: 'extra_large',
  weightGrams: 24_500,
  colors: ['brown', 'white'],
  goodWith: { children: 'yes', dogs: 'no' },
  specialNeeds: 'yes',
  adoptionFee: { amount: 12_000, currency: 'EUR' },
  tags: ['playful', 'calm indoors'],
  externalId: 'A-4711',
  attributes: { 'Favourite toy': 'a red ball' },
};
