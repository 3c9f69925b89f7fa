import { BadRequestException, Injectable } from '@nestjs/common';
import { DataSource, IsNull, MoreThan } from 'typeorm';
import { Category, History, Pet } from './nest-entities.js';
import { readCursor } from './pages.js';

export class PetsService {
  constructor(dataSource) {
    this.dataSource = dataSource;
    this.pets = dataSource.getRepository(Pet);
  }

  /** Reads one row more than a page has. */
  list({ status, categoryId, limit, cursor }) {
    const afterId = readCursor(cursor);
    if (afterId === undefined) throw new BadRequestException('cursor was not made by this service');
    const filters = { ...(status !== undefined && { status }), ...(categoryId !== undefined && { categoryId }) };
    return this.pets.find({ where: { removedAt: IsNull(), ...filters, id: MoreThan(afterId) }, order: { id: 'ASC' }, take: limit + 1 });
  }

  async create({ name, categoryId, status }, { clientId, keyId }) {
    return this.dataSource.transaction(async (manager) => {
      await manager.createQueryBuilder().insert().into(Category).values({ id: categoryId }).orIgnore().execute();
      const { identifiers } = await manager.insert(Pet, { name, categoryId, status });
      const id = Number(identifiers[0].id);
      await manager.insert(History, { petId: id, clientId, keyId, toStatus: status, why: 'added' });
      return { id, name, categoryId, status };
    });
  }
}
Reflect.decorate([Injectable(), Reflect.metadata('design:paramtypes', [DataSource])], PetsService);
