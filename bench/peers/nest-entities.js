import { EntitySchema } from 'typeorm';
import { statuses } from './pages.js';

// Ids stay below 2^53.
const bigint = { type: 'bigint', transformer: { from: Number, to: (value) => value } };

export const Category = new EntitySchema({
  name: 'Category',
  tableName: 'categories',
  columns: { id: { ...bigint, primary: true } },
});

export const Pet = new EntitySchema({
  name: 'Pet',
  tableName: 'pets',
  columns: {
    id: { ...bigint, primary: true, generated: 'identity' },
    name: { type: 'text' },
    categoryId: { ...bigint, name: 'category_id' },
    status: { type: 'enum', enum: statuses, enumName: 'pet_status' },
    removedAt: { type: 'timestamptz', name: 'removed_at', nullable: true, select: false },
  },
});

export const History = new EntitySchema({
  name: 'History',
  tableName: 'history',
  columns: {
    id: { ...bigint, primary: true, generated: 'identity' },
    petId: { ...bigint, name: 'pet_id' },
    clientId: { ...bigint, name: 'client_id' },
    keyId: { ...bigint, name: 'key_id' },
    toStatus: { type: 'text', name: 'to_status' },
    why: { type: 'text' },
  },
});

export const entities = [Category, Pet, History];
