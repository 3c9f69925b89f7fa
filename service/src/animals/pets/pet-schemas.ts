import { type Static, Type } from 'typebox';
import { EventSchema } from '../../changes/events/event-schemas.ts';
import { petStatuses } from '../../domain/pet-statuses.ts';
import { pageQuery } from '../../platform/http/paging.ts';
import { Int64, NameText, Ref, StringEnum } from '../../platform/http/schemas.ts';
import { ShownHoldSchema } from './hold-schemas.ts';

export const PetStatusSchema = StringEnum(petStatuses, { $id: 'PetStatus', description: 'The status of the animal.' });
const Status = Ref(PetStatusSchema);

const fields = {
  name: NameText("The animal's name.", ['Biscuit']),
  categoryId: Int64({ description: 'Identifier of the category the animal belongs to.', examples: [1] }),
};

export const NewPetSchema = Type.Object(
  { ...fields, status: Type.Optional(StringEnum(petStatuses, { description: 'The status of the animal.', default: 'available' })) },
  { $id: 'NewPet', examples: [{ name: 'Biscuit', categoryId: 1 }] },
);
export type NewPet = Static<typeof NewPetSchema>;

export const PetSchema = Type.Object(
  { id: Int64({ description: 'Unique identifier assigned by the service on creation.', examples: [1] }), ...fields, status: Status },
  { $id: 'Pet', examples: [{ id: 1, name: 'Biscuit', categoryId: 1, status: 'available' }] },
);
export type Pet = Static<typeof PetSchema>;

/** The fields of an animal with their columns, for queries and for serialization without parsing numbers. */
export const petFields = Object.entries(PetSchema.properties).map(([name, schema]) => ({
  name: name as keyof Pet,
  column: name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
  isNumber: 'format' in schema && schema.format === 'int64',
}));

export const PetChangesSchema = Type.Object(
  { name: Type.Optional(fields.name), categoryId: Type.Optional(fields.categoryId), status: Type.Optional(Status) },
  {
    $id: 'PetChanges',
    anyOf: [{ required: ['name'] }, { required: ['categoryId'] }, { required: ['status'] }],
    'x-must-be': 'an object with name, categoryId or status',
    examples: [{ name: 'Biscuit II' }],
  },
);
export type PetChanges = Static<typeof PetChangesSchema>;

const PetEventSchema = EventSchema('pet', {
  what: 'What happened to the animal.',
  data: {
    pet: Ref(PetSchema),
    previousStatus: Type.Optional(Ref(PetStatusSchema)),
    previousCategoryId: Type.Optional(Int64({ description: 'Of pet.updated, if the category was changed.' })),
    hold: Type.Optional(Ref(ShownHoldSchema)),
    shelterId: Type.Optional(Int64({ description: 'Of pet.moved: the shelter that the animal is in now.' })),
    previousShelterId: Type.Optional(Int64({ description: 'Of pet.moved: the shelter that the animal was in before.' })),
  },
  description:
    'The animal as it was right after the change. pet.status_changed also has the previous status, pet.updated the previous category if that was changed, pet.moved both shelters, and pet.held the hold.',
  examples: [
    {
      id: 'evt_1',
      type: 'pet.created',
      createdAt: '2026-11-15T10:00:00.000Z',
      data: { pet: { id: 1, name: 'Biscuit', categoryId: 1, status: 'available' } },
    },
  ],
});

export const petSchemas = [PetStatusSchema, NewPetSchema, PetSchema, PetChangesSchema, PetEventSchema];

const idsMax = 100;

export const ListPetsQuery = Type.Object(
  {
    ...pageQuery('animals'),
    status: Type.Optional(
      StringEnum(petStatuses, { description: 'Only animals with this status. Without it, animals of every status are returned.' }),
    ),
    categoryId: Type.Optional(Int64({ description: 'Only animals of this category.' })),
    id: Type.Optional(
      Type.Array(Int64(), {
        maxItems: idsMax,
        description: `Only animals with these ids, at most ${idsMax}. Ids that do not exist are omitted.`,
      }),
    ),
  },
  { additionalProperties: false },
);
export type ListPets = Static<typeof ListPetsQuery>;
