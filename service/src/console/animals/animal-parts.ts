import type { Clock } from '../../platform/clock.ts';
import type { Config } from '../../platform/config.ts';
import type { Db, Searcher, Transactor } from '../../platform/db/handles.ts';

/** What the screens of animals are made of. */
export interface AnimalParts {
  readonly db: Transactor & Searcher & Db;
  readonly clock: Clock;
  readonly config: Pick<Config, 'categories' | 'photosUrl'>;
  /** An origin. */
  readonly consoleUrl: string;
}
