import pg from 'pg';

/** A standby, or a primary that is read-only: what it shows may be old, and nothing can be written. */
export class NotPrimary extends Error {
  /** The last of several servers, of which another may be the primary soon, or was only slow. */
  readonly isOneOfSeveral: boolean;

  constructor({ isOneOfSeveral = false } = {}) {
    super('the server is a standby, or read-only');
    this.isOneOfSeveral = isOneOfSeveral;
  }
}

/** To be asked of each connection before it is used. */
const isReadOnly = `select pg_is_in_recovery() or current_setting('transaction_read_only')::boolean as "isReadOnly"`;

export async function requirePrimary(client: Pick<pg.ClientBase, 'query'>): Promise<void> {
  const { rows } = await client.query<{ isReadOnly: boolean }>(isReadOnly);
  if (rows[0]?.isReadOnly !== false) throw new NotPrimary();
}

/** One address for each server of DATABASE_URL, in which several are separated by commas, as for libpq. */
export function addressesOf(databaseUrl: string): readonly string[] {
  const [, before = '', servers = '', after = ''] = /^([a-z]+:\/\/(?:[^/?#@]*@)?)([^/?#]*)(.*)$/is.exec(databaseUrl) ?? [];
  return servers.includes(',') ? servers.split(',').map((server) => before + server + after) : [databaseUrl];
}

/** The servers of which one is the primary, and which of them it was last. */
export class PostgresServers {
  readonly #addresses: readonly string[];
  #current = 0;

  constructor(databaseUrl: string) {
    this.#addresses = addressesOf(databaseUrl);
  }

  get count(): number {
    return this.#addresses.length;
  }

  /** The server to try next. */
  get current(): string {
    return this.#addresses[this.#current] ?? '';
  }

  /** This one can't be used. Several connections may notice it. */
  leave(address: string): void {
    if (address === this.current) this.#current = (this.#current + 1) % this.count;
  }

  /** Calls `open` for one server after the other, the current one first, until it succeeds. */
  async connect<T>(open: (address: string) => Promise<T>): Promise<T> {
    let failure: unknown;
    for (let tries = 0; tries < this.count; tries += 1) {
      const address = this.current;
      try {
        return await open(address);
      } catch (error) {
        this.leave(address);
        // A server that replies says more than one that does not.
        failure = error instanceof NotPrimary ? new NotPrimary({ isOneOfSeveral: this.count > 1 }) : (failure ?? error);
      }
    }
    throw failure;
  }
}

/**
 * One connection, to the first server of several that is a primary. If there is only one server, or none is a primary, that is for the
 * caller to find out: what it does may not need one.
 */
export async function connectToPrimary(databaseUrl: string, options: pg.ClientConfig): Promise<pg.Client> {
  const servers = new PostgresServers(databaseUrl);
  const open = async (address: string) => {
    const client = new pg.Client({ ...options, connectionString: address });
    // A broken connection is reported by the next query.
    client.on('error', () => {});
    await client.connect();
    return client;
  };
  const openPrimary = async (address: string) => {
    const client = await open(address);
    const { rows } = await client.query<{ isReadOnly: boolean }>(isReadOnly);
    if (!rows[0]?.isReadOnly) return client;
    await client.end();
    throw new NotPrimary();
  };
  if (servers.count === 1) return open(servers.current);
  return servers.connect(openPrimary);
}
