import { Type } from 'typebox';
import { type Post, rightsOf, roles, roleTable } from '../../domain/roles.ts';
import type { Db } from '../../platform/db/handles.ts';
import { type Html, html } from '../../platform/html.ts';
import { StringEnum } from '../../platform/http/schemas.ts';
import { findSheltersCalled } from '../../store/shelters/shelter-names.ts';
import type { Choice, Fields } from '../forms/fields.ts';
import { FormError } from '../screens/page-error.ts';
import type { Visit } from '../screens/visit.ts';

/** What an invitation and a change have in common. Nobody gets the whole store because a field was left empty. */
export const postFields = {
  role: StringEnum(roles),
  reach: Type.Optional(StringEnum(['shelter', 'store'] as const)),
  shelter: Type.Optional(Type.String({ maxLength: 200 })),
};
export const personName = Type.String({ minLength: 1, maxLength: 200 });

/** An admin of a shelter has no choice of places. */
export function shownPostFields(fields: Fields, { caller }: Visit): Html {
  const isStore = caller.shelterId === null;
  const choices: Choice[] = roles
    .filter((one) => isStore || rightsOf(one, caller.shelterId))
    .map((one) => ({ value: one, label: roleName({ role: one }), hint: roleTable[one].meaning }));
  return html`${fields.choices('role', 'Role', choices)}
${isStore && html`${fields.choices('reach', 'Where', reaches)}${fields.text('shelter', 'Which shelter', { hint: 'Its name, or its number. Leave it empty for the whole store.' })}`}`;
}

const reaches: readonly Choice[] = [
  { value: 'shelter', label: 'One shelter' },
  { value: 'store', label: 'The whole store' },
];
const foundMax = 5;

/** A person of a shelter has no choice. */
export async function placeGiven(
  db: Db,
  { reach, shelter }: { readonly reach?: 'shelter' | 'store'; readonly shelter?: string },
  { caller }: Visit,
): Promise<bigint | null> {
  if (caller.shelterId !== null) return caller.shelterId;
  const text = shelter?.trim() ?? '';
  if (reach === undefined) throw new FormError('Choose one shelter, or the whole store.', 'reach');
  if (reach === 'store' && text !== '') throw new FormError('This is for one shelter. Leave it empty for the whole store.', 'shelter');
  if (reach === 'store') return null;
  if (text === '') throw new FormError('Write the name or the number of the shelter.', 'shelter');
  const found = await findSheltersCalled(db, text, foundMax + 1);
  const [first, second] = found;
  if (!first) throw new FormError(`No shelter has “${text}” in its name, or as its number.`, 'shelter');
  if (!second || (first.isMeant && !second.isMeant)) return first.id;
  const named = found.slice(0, foundMax).map(({ id, name: called }) => `${called} (number ${id})`);
  throw new FormError(
    `Write the number of the one that you mean: ${named.join(', ')}${found.length > foundMax ? ', or others' : ''}.`,
    'shelter',
  );
}

/** What the fields show first. */
export const postValues = ({ role, shelterId }: Post) => ({ role, reach: shelterId === null ? 'store' : 'shelter', shelter: shelterId });

/** For people: where somebody works. */
export const workplaceOf = ({ shelterId: id }: Pick<Post, 'shelterId'>, names: ReadonlyMap<bigint, string>): Html =>
  id === null ? html`Whole store` : html`<bdi>${names.get(id) ?? `Shelter ${id}`}</bdi>`;

export const roleName = ({ role }: Pick<Post, 'role'>): string => `${role.slice(0, 1).toUpperCase()}${role.slice(1)}`;
