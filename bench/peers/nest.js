// NestJS on its Express adapter, @nestjs/throttler on Redis, class-validator and TypeORM. Its decorators are applied as the plain
// functions that they are: this runs without a compiler.
import 'reflect-metadata';
import { ThrottlerStorageRedisService } from '@nest-lab/throttler-storage-redis';
import {
  Body,
  Controller,
  ForbiddenException,
  Get,
  Injectable,
  Module,
  Post,
  Query,
  Res,
  SetMetadata,
  UnauthorizedException,
  ValidationPipe,
} from '@nestjs/common';
import { APP_GUARD, NestFactory, Reflector } from '@nestjs/core';
import { ThrottlerGuard, ThrottlerModule } from '@nestjs/throttler';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Redis } from 'ioredis';
import { DataSource } from 'typeorm';
import { createAuthenticator, findKeyStatement } from './api-keys.js';
import { entities } from './nest-entities.js';
import { PetsService } from './nest-pets.js';
import { ListPetsQuery, NewPet } from './nest-shapes.js';
import { toPage } from './pages.js';
import { settings } from './settings.js';

const minuteMs = 60_000;

class PetsController {
  constructor(pets) {
    this.pets = pets;
  }

  async list(query, response) {
    const { page, link } = toPage(await this.pets.list(query), query);
    if (link) response.set('Link', link);
    return page;
  }

  create(pet, response) {
    return this.pets.create(pet, response.req.apiKey);
  }
}
decorate(PetsController, [Controller('v1/pets')], [PetsService]);
decorateMethod(PetsController, 'list', [Get(), SetMetadata('scope', 'pets:read')], [ListPetsQuery, Object], [Query()]);
decorateMethod(PetsController, 'create', [Post(), SetMetadata('scope', 'pets:write')], [NewPet, Object], [Body()]);

class ApiKeyGuard {
  constructor(dataSource, reflector) {
    this.reflector = reflector;
    this.authenticate = createAuthenticator(async (hash) => (await dataSource.query(findKeyStatement, [hash]))[0]);
  }

  async canActivate(context) {
    const request = context.switchToHttp().getRequest();
    request.apiKey = await this.authenticate(request.headers.authorization);
    if (!request.apiKey) throw new UnauthorizedException();
    if (!request.apiKey.scopes.includes(this.reflector.get('scope', context.getHandler()))) throw new ForbiddenException();
    return true;
  }
}
decorate(ApiKeyGuard, [Injectable()], [DataSource, Reflector]);

const quotaOf = (quota) => (context) => context.switchToHttp().getRequest().apiKey[quota];

class AppModule {}
decorate(AppModule, [
  Module({
    imports: [
      TypeOrmModule.forRoot({
        type: 'postgres',
        url: settings.databaseUrl,
        poolSize: settings.poolSize,
        extra: { idleTimeoutMillis: 0 },
        entities,
      }),
      ThrottlerModule.forRoot({
        throttlers: [
          { name: 'minute', ttl: minuteMs, limit: quotaOf('perMinute') },
          { name: 'day', ttl: 24 * 60 * minuteMs, limit: quotaOf('perDay') },
        ],
        getTracker: ({ apiKey }) => String(apiKey.clientId),
        // By client alone: all routes share its quota.
        generateKey: (_context, tracker, name) => `nest:${name}:${tracker}`,
        storage: new ThrottlerStorageRedisService(new Redis(settings.redisUrl)),
      }),
    ],
    controllers: [PetsController],
    providers: [PetsService, { provide: APP_GUARD, useClass: ApiKeyGuard }, { provide: APP_GUARD, useClass: ThrottlerGuard }],
  }),
]);

const app = await NestFactory.create(AppModule, { logger: ['error', 'warn'] });
app.disable('x-powered-by');
app.useGlobalPipes(new ValidationPipe({ transform: true, whitelist: true }));
await app.listen(settings.port, settings.host);

/** Does what a compiler generates for a class with decorators and a typed constructor. */
function decorate(target, decorators, parameters = []) {
  Reflect.decorate([...decorators, Reflect.metadata('design:paramtypes', parameters)], target);
}

/** `first` decorates the first parameter; the second is the response, on which only headers are set. */
function decorateMethod(target, name, decorators, parameters, [first]) {
  first(target.prototype, name, 0);
  Res({ passthrough: true })(target.prototype, name, 1);
  const descriptor = Object.getOwnPropertyDescriptor(target.prototype, name);
  Reflect.decorate([...decorators, Reflect.metadata('design:paramtypes', parameters)], target.prototype, name, descriptor);
}
