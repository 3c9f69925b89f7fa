import type { Command } from 'commander';
import { countOfPet } from '../../adoption/applications/count-queries.ts';
import { findNamedOrder, findOpenOrdersOfPets } from '../../adoption/orders/order-queries.ts';
import { findShelter } from '../../adoption/shelters/shelter-queries.ts';
import { findHold } from '../../animals/pets/hold-queries.ts';
import { findPlacement, selectPets } from '../../animals/pets/pet-queries.ts';
import { type PhotoRow, selectPhotos } from '../../animals/photos/photo-queries.ts';
import { dayOf } from '../../animals/profiles/profile-changes.ts';
import { profileOf } from '../../animals/profiles/profile-json.ts';
import { getProfile } from '../../animals/profiles/profiles.ts';
import type { Dependencies } from '../../dependencies.ts';
import { fieldRows, type Profile, type ProfileField } from '../../domain/profile-fields.ts';
import type { ReadConfig } from '../../platform/config.ts';
import type { Db } from '../../platform/db/handles.ts';
import { named, printLines, printRecord, timeText } from '../terminal/output.ts';
import { type CommandResult, onStore, parseId } from '../terminal/store-command.ts';
import { describeHold } from './holds.ts';
import { getNamedPet, petName } from './named-pets.ts';
import { shownPhotos } from './photos.ts';

export function addShowPetCommand(pets: Command, config: ReadConfig): void {
  const show = pets
    .command('show')
    .description('show an animal with its shelter, its profile, its photos, its open order, and how many apply for it')
    .argument('<id>', 'the animal', parseId);
  onStore(show, config, (id: bigint) => (dependencies) => describePet(dependencies, id));
}

async function describePet({ db, config: { photosUrl } }: Dependencies, id: bigint): Promise<CommandResult> {
  const pet = await getNamedPet(db, id);
  const shelter = await shelterOf(db, id);
  const hold = await findHold(db, id);
  const orderId = (await findOpenOrdersOfPets(db, [id])).get(id);
  const order = orderId === undefined ? undefined : await findNamedOrder(db, orderId);
  const openApplications = await countOfPet(db, id);
  const profile = profileOf(await getProfile(db, id), dayOf(Date.now()));
  const photos = await selectPhotos(db, id);
  const record = {
    animal: petName(pet),
    category: named(pet.category ?? undefined, pet.categoryId),
    status: pet.status,
    hold: hold && describeHold(hold),
    shelter: shelter && named(shelter.name, shelter.id),
    ...knownFields(profile),
    'bonded with': await bondOf(db, profile),
    photos: countsOf(photos),
    'open order': order && `${order.id}, ${order.status} ${timeText(order.updatedAt)} by ${named(order.client, order.clientId)}`,
    'open applications': openApplications || undefined,
  };
  const text = () => {
    printRecord(record);
    const { description, attributes } = profile;
    if (description !== null) printLines('', ...description.split(/\r?\n/));
    const pairs = Object.entries(attributes).map(([name, value]) => `  ${name}: ${value}`);
    if (pairs.length > 0) printLines('', 'Attributes:', ...pairs);
    const next = [
      ...(order ? [`homeward orders show ${order.id}`] : []),
      ...(openApplications > 0 ? [`homeward applications list --pet ${id}`] : []),
      ...(photos.length > 0 ? [`homeward pets photo list ${id}`] : []),
    ];
    if (next.length > 0) printLines('', 'See also:', ...next.map((command) => `  ${command}`));
  };
  return {
    json: {
      ...pet,
      hold: hold ?? null,
      shelter: shelter ?? null,
      order: order ?? null,
      openApplications,
      profile,
      photos: shownPhotos(photos, photosUrl),
    },
    text,
  };
}

async function shelterOf(db: Db, petId: bigint): Promise<{ readonly id: bigint; readonly name: string } | undefined> {
  const placement = await findPlacement(db, petId);
  const shelter = placement && (await findShelter(db, placement.shelterId));
  return shelter && { id: shelter.id, name: shelter.name };
}

async function bondOf(db: Db, { bondedWith }: Profile): Promise<string | undefined> {
  if (bondedWith.length === 0) return undefined;
  const others = await selectPets(db, { ids: bondedWith }, { afterId: undefined, limit: bondedWith.length });
  return others.map(petName).join(', ') || undefined;
}

/** `2 ready, 1 failed`. */
function countsOf(photos: readonly PhotoRow[]): string {
  const statuses = [...new Set(photos.map(({ status }) => status))];
  if (statuses.length === 0) return 'none';
  return statuses.map((one) => `${photos.filter(({ status }) => status === one).length} ${one}`).join(', ');
}

/** `goodWith` as people read it: good with. */
export const fieldWords = (name: string): string => name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

/** Shown in ways of their own. */
const elsewhere: readonly ProfileField[] = ['description', 'bondedWith', 'attributes', 'birthDateIsExact', 'adoptionFee'];

/** A line for each field of which something is known, by its name. */
function knownFields(profile: Profile): Record<string, string | undefined> {
  const shown = fieldRows.filter(([name]) => !elsewhere.includes(name));
  const lines = shown.map(([name]) => [fieldWords(name), textOf(profile[name]) || undefined]);
  return { ...Object.fromEntries(lines), ...(profile.birthDate && { 'birth date': birthDateOf(profile) }), 'adoption fee': feeOf(profile) };
}

const birthDateOf = ({ birthDate, birthDateIsExact }: Profile) => `${birthDate}${birthDateIsExact ? '' : ', estimated'}`;

/** In units of the currency, such as €120.00. */
function feeOf({ adoptionFee }: Profile): string | undefined {
  if (adoptionFee === null) return undefined;
  const { amount, currency } = adoptionFee;
  const format = new Intl.NumberFormat('en', { style: 'currency', currency });
  return format.format(amount / 10 ** (format.resolvedOptions().maximumFractionDigits ?? 0));
}

/** Empty: nothing is known. */
function textOf(value: Profile[ProfileField]): string {
  if (value === null || value === 'unknown' || typeof value === 'boolean') return '';
  if (Array.isArray(value)) return value.join(', ');
  if (typeof value !== 'object') return String(value);
  const parts = Object.entries(value).map(([part, one]) => [part, textOf(one)] as const);
  const known = parts.filter(([, text]) => text !== '');
  return known.map(([part, text]) => `${fieldWords(part)} ${text}`).join(', ');
}
