import type { FastifyBaseLogger } from 'fastify';
import type { Db, Writer } from '../../platform/db/handles.ts';
import { PhotosElsewhere, requireMark } from '../../store/photos/photo-mark.ts';
import type { PhotoStore } from '../../store/photos/photo-store.ts';

/** Looks whether the photos are where HOMEWARD_PHOTOS says, and marks them as the store's if nobody has. */
export class PhotoWatch {
  readonly #db: Db & Writer;
  readonly #store: PhotoStore | undefined;
  readonly #log: Pick<FastifyBaseLogger, 'error' | 'info'>;
  /** Undefined: photos are off, or not looked at yet. */
  isHere: boolean | undefined;

  constructor(db: Db & Writer, store: PhotoStore | undefined, log: Pick<FastifyBaseLogger, 'error' | 'info'>) {
    this.#db = db;
    this.#store = store;
    this.#log = log;
  }

  /** A job: it never finds more to do at once. That photos are elsewhere is said once. */
  async look(): Promise<0> {
    if (!this.#store) return 0;
    try {
      await requireMark(this.#db, this.#store);
      if (this.isHere === false) this.#log.info('photos are found again');
      this.isHere = true;
    } catch (error) {
      if (!(error instanceof PhotosElsewhere)) throw error;
      if (this.isHere !== false) this.#log.error({ reason: error.message }, 'photos are not found: uploads are rejected until they are');
      this.isHere = false;
    }
    return 0;
  }
}
