// Searches for the text of keys wherever the store writes data.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Redis } from 'ioredis';
import { hashApiKey } from '../service/src/access/clients/api-key.ts';
import { connectTo } from './postgres.ts';

export interface SearchResult {
  /** How much was searched, to show that the search was not empty. */
  readonly searched: string;
  readonly hits: string[];
}

/** Texts that identify a key: a part of it, in case a line is truncated, and that part in hexadecimal, as bytea is printed. */
const needlesOf = (key: string): string[] => [key.slice(11, 27), Buffer.from(key.slice(11, 27)).toString('hex')];

export function searchLines(text: string, keys: readonly string[]): SearchResult {
  const needles = keys.flatMap(needlesOf);
  const lines = text.split('\n').filter(Boolean);
  const plain = (line: string) => line.replace(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  const hits = lines.filter((line) => needles.some((needle) => line.includes(needle) || plain(line).includes(needle)));
  return { searched: `${lines.length.toLocaleString('en')} lines`, hits };
}

/**
 * Searches every row of every table as text, and every byte of PostgreSQL's files. `controls` is the number of keys whose
 * hash was found in both.
 */
export async function searchPostgres(databaseUrl: string, keys: readonly string[]): Promise<SearchResult & { controls: number }> {
  await using client = await connectTo(databaseUrl);
  const { rows: tables } = await client.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname not in ('pg_catalog', 'information_schema')`,
  );
  let text = '';
  for (const { name } of tables) {
    const { rows } = await client.query<{ row: string }>(`select whole::text as row from ${name} as whole`);
    text += rows.map(({ row }) => `${name}: ${row}\n`).join('');
  }
  await client.query('checkpoint');
  const { rows: folders } = await client.query<{ data_directory: string }>('show data_directory');
  const files = readAll(folders[0]?.data_directory ?? '');
  const inRows = searchLines(text, keys);
  const inFiles = [...files].filter(([, bytes]) => keys.flatMap(needlesOf).some((needle) => bytes.includes(needle)));
  const isHashThere = (hash: string) =>
    text.includes(hash) && [...files.values()].some((bytes) => bytes.includes(Buffer.from(hash, 'hex')));
  const size = [...files.values()].reduce((sum, { length }) => sum + length, 0);
  return {
    searched: `${tables.length} tables, ${inRows.searched}, ${Math.round(size / 1_048_576)} MiB of files`,
    hits: [...inRows.hits, ...inFiles.map(([file]) => file)],
    controls: keys.filter((key) => isHashThere(hashApiKey(key))).length,
  };
}

/** Searches every key and value in Redis. */
export async function searchRedis(redis: Redis, keys: readonly string[]): Promise<SearchResult> {
  const lines: string[] = [];
  for await (const redisKeys of redis.scanStream({ count: 1_000 }) as AsyncIterable<string[]>) {
    for (const redisKey of redisKeys) lines.push(`${redisKey} ${await read(redis, redisKey)}`);
  }
  const { hits } = searchLines(lines.map((line) => line.replaceAll('\n', ' ')).join('\n'), keys);
  return { searched: `${lines.length.toLocaleString('en')} keys with their values`, hits };
}

async function read(redis: Redis, redisKey: string): Promise<string> {
  const type = await redis.type(redisKey);
  if (type === 'string') return (await redis.get(redisKey)) ?? '';
  if (type === 'hash') return JSON.stringify(await redis.hgetall(redisKey));
  if (type === 'zset') return JSON.stringify(await redis.zrange(redisKey, '0', '-1', 'WITHSCORES'));
  if (type === 'set') return JSON.stringify(await redis.smembers(redisKey));
  if (type === 'list') return JSON.stringify(await redis.lrange(redisKey, 0, -1));
  if (type === 'stream') return JSON.stringify(await redis.xrange(redisKey, '-', '+'));
  throw new Error(`the search can't read the Redis type ${type}`);
}

function readAll(folder: string): Map<string, Buffer> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(entries.map(({ parentPath, name }) => [path.join(parentPath, name), readFileSync(path.join(parentPath, name))]));
}
