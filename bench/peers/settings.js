/** Each program of this folder is told what it needs by its environment. */
export const settings = {
  databaseUrl: process.env.DATABASE_URL,
  redisUrl: process.env.REDIS_URL,
  port: Number(process.env.PORT),
  host: '127.0.0.1',
  poolSize: Number(process.env.POOL_SIZE ?? 10),
  /** A JSON file of [path, body] pairs, for the programs that only send what stands there. */
  pagesFile: process.env.PAGES_FILE ?? '',
};

// The channel closes with whoever started this, even where that was killed.
process.once('disconnect', () => process.exit());
