/** The settings of each program in this folder, from its environment. */
export const settings = {
  databaseUrl: process.env.DATABASE_URL,
  redisUrl: process.env.REDIS_URL,
  port: Number(process.env.PORT),
  host: '127.0.0.1',
  poolSize: Number(process.env.POOL_SIZE ?? 10),
  /** A JSON file of [path, body] pairs, for the programs that send constant bytes. */
  pagesFile: process.env.PAGES_FILE ?? '',
};

// The IPC channel closes when the parent process ends, even if it was killed.
process.once('disconnect', () => process.exit());
