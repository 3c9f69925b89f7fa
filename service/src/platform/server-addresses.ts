import pg from 'pg';
import { addressesOf, hasStrayAt, isSentinelUrl, parseSentinelUrl, type SentinelUrl } from './server-urls.ts';

/** Where the store's data is, without the password: PostgreSQL at 127.0.0.1:5432, database "homeward". */
export function describePostgres(url: string): string {
  if (showsPassword(url)) return 'PostgreSQL at the address in DATABASE_URL';
  const parsed = addressesOf(url).flatMap((address) => parse(address) ?? []);
  const [first] = parsed;
  if (!first) return 'PostgreSQL at the address in DATABASE_URL';
  const places = parsed.map((client) =>
    client.host.startsWith('/') ? `the socket ${client.host}/.s.PGSQL.${client.port}` : nameOf(client),
  );
  return `PostgreSQL at ${places.join(' or ')}, database "${first.database}"`;
}

/** One address of DATABASE_URL, as people write it: db1:5432. */
export function serverName(address: string): string {
  const client = parse(address);
  return client ? nameOf(client) : 'the server';
}

/** Whether a connection to this address is by TLS. */
export const usesTls = (address: string): boolean => Boolean((parse(address) as { ssl?: unknown } | undefined)?.ssl);

const nameOf = ({ host, port }: pg.Client) => withPort(host, port);

/**
 * Parsed as for a connection: an address may have parameters, and parts may come from PGHOST and other variables. Undefined if a file that
 * it names, such as sslrootcert, can't be read.
 */
function parse(url: string): pg.Client | undefined {
  try {
    return new pg.Client({ connectionString: url });
  } catch {
    return undefined;
  }
}

/** Redis at 127.0.0.1:6379, or Redis "homeward" of the Sentinels at a:26379 and b:26379. */
export function describeRedis(url: string): string {
  if (isSentinelUrl(url)) return describeWatched(parseSentinelUrl(url));
  if (showsPassword(url) || !URL.canParse(url)) return 'Redis at the address in REDIS_URL';
  const { hostname, port } = new URL(url);
  return `Redis at ${withPort(hostname || 'localhost', Number(port || 6_379))}`;
}

const describeWatched = ({ name, sentinels }: SentinelUrl) =>
  `Redis "${name}" of the ${sentinels.length === 1 ? 'Sentinel' : 'Sentinels'} at ${listed(sentinels.map(({ host, port }) => withPort(host, port)))}`;

const listed = (words: readonly string[]) => new Intl.ListFormat('en-GB').format(words);

/**
 * True if a parser would take a part of the password for the host or the database, because a / ? # or @ in it is not percent-encoded.
 * There is then an @ after the first one, or outside the part between // and the path.
 */
export function showsPassword(url: string): boolean {
  return hasStrayAt(url) || !addressesOf(url).every((address) => URL.canParse(address));
}

export const howToEncode =
  'In the user and the password of DATABASE_URL, write "@" as %40, "/" as %2F, "?" as %3F, "#" as %23 and "%" as %25.';

const withPort = (host: string, port: number) => (host.includes(':') && !host.startsWith('[') ? `[${host}]:${port}` : `${host}:${port}`);
