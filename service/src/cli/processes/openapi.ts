import type { Command } from 'commander';
import { PageTokens } from '../../adoption/applications/page-tokens.ts';
import { ShelterLinks } from '../../adoption/shelters/shelter-links.ts';
import { Catalogue } from '../../animals/list-cache/catalogue.ts';
import { systemClock } from '../../platform/clock.ts';
import type { ReadConfig } from '../../platform/config.ts';
import { ChangeWatch } from '../../platform/db/change-watch.ts';
import { Pool } from '../../platform/db/pool.ts';
import { openLog } from '../../platform/log.ts';
import { RedisLink, redisKeysOf } from '../../platform/redis/redis-link.ts';
import { printJson } from '../terminal/output.ts';

export function addOpenApiCommand(program: Command, config: ReadConfig): void {
  program
    .command('openapi')
    .description('print the OpenAPI document; needs neither PostgreSQL nor Redis')
    .action(async () => {
      const [{ createApp }, { openApiDocument }] = await Promise.all([import('../../app.ts'), import('../../platform/http/openapi.ts')]);
      const settings = config();
      const [db, redis, redisKeys] = [new Pool(settings.databaseUrl, 1), new RedisLink(settings.redisUrl), redisKeysOf('none')];
      const app = await createApp({
        config: settings,
        clock: systemClock,
        ...openLog(settings),
        db,
        redis,
        redisKeys,
        catalogue: new Catalogue(db, redis, redisKeys),
        changes: new ChangeWatch(db),
        pageTokens: new PageTokens(Buffer.alloc(0)),
        shelterLinks: new ShelterLinks(Buffer.alloc(0)),
        secret: Buffer.alloc(0),
        tracing: undefined,
        [Symbol.asyncDispose]: async () => {},
      });
      printJson(openApiDocument(app.server), 2);
      await app.server.close();
    });
}
