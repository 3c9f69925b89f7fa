// A real Redis whose time and expiries are those of the simulation. Scripts are not changed: the table `redis` that they use is.
import { createHash } from 'node:crypto';
import { Redis } from 'ioredis';

/** The time is the last argument. Keys expire by a sorted set of their ends, as they would by Redis's own clock. */
const onVirtualTime = `
local real, ends, virtual_now = redis, 'simulation:ends', tonumber(ARGV[#ARGV])
for _, key in ipairs(real.call('ZRANGEBYSCORE', ends, '-inf', virtual_now)) do
  real.call('DEL', key)
  real.call('ZREM', ends, key)
end
local redis = { call = function(name, ...)
  local key, value, option, ttl = ...
  if name == 'TIME' then return { math.floor(virtual_now / 1000), virtual_now % 1000 * 1000 } end
  if name ~= 'SET' then return real.call(name, ...) end
  if option == 'PX' then
    real.call('ZADD', ends, string.format('%.0f', virtual_now + tonumber(ttl)), key)
  elseif option ~= 'KEEPTTL' then
    real.call('ZREM', ends, key)
  end
  return real.call('SET', key, value)
end }
`;

export class VirtualRedis implements AsyncDisposable {
  readonly #client: Redis;
  readonly #sha: string;

  private constructor(client: Redis, sha: string) {
    this.#client = client;
    this.#sha = sha;
  }

  /** Runs `lua` in place of every script. Each thread has its own database. */
  static async open(socket: string, database: number, lua: string): Promise<VirtualRedis> {
    const client = new Redis(socket, { db: database, lazyConnect: true });
    await client.connect();
    const script = onVirtualTime + lua;
    await client.script('LOAD', script);
    return new VirtualRedis(client, createHash('sha1').update(script).digest('hex'));
  }

  /** `args` are those of EVALSHA after the SHA. */
  async runScript(args: readonly string[], nowMs: number): Promise<string> {
    const [keyCount = '0', ...others] = args;
    return (await this.#client.evalsha(this.#sha, keyCount, ...others, String(nowMs))) as string;
  }

  async empty(): Promise<void> {
    await this.#client.flushdb();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#client.disconnect();
  }
}
