import { Type } from 'class-transformer';
import { IsIn, IsInt, IsNotEmpty, IsOptional, IsString, Max, MaxLength, Min } from 'class-validator';
import { limitDefault, limitMax, statuses } from './pages.js';

const toNumber = Type(() => Number);

export class ListPetsQuery {
  status;
  categoryId;
  limit = limitDefault;
  cursor;
}
decorate(ListPetsQuery, {
  status: [IsOptional(), IsIn(statuses)],
  categoryId: [IsOptional(), toNumber, IsInt()],
  limit: [toNumber, IsInt(), Min(1), Max(limitMax)],
  cursor: [IsOptional(), IsString()],
});

export class NewPet {
  name;
  categoryId;
  status = 'available';
}
decorate(NewPet, {
  name: [IsString(), IsNotEmpty(), MaxLength(200)],
  categoryId: [IsInt()],
  status: [IsIn(statuses)],
});

function decorate({ prototype }, fields) {
  for (const [name, decorators] of Object.entries(fields)) {
    for (const one of decorators) one(prototype, name);
  }
}
