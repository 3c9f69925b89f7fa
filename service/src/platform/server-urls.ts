import { BlockList, isIP } from 'node:net';
import pg from 'pg';

/** One address for each server of DATABASE_URL, in which several are separated by commas, as for libpq. */
export function addressesOf(databaseUrl: string): readonly string[] {
  const { before, servers, after } = splitServers(databaseUrl);
  return servers.includes(',') ? servers.split(',').map((server) => before + server + after) : [databaseUrl];
}

function splitServers(databaseUrl: string): Readonly<Record<'before' | 'servers' | 'after', string>> {
  const [, before = '', servers = '', after = ''] = /^([a-z]+:\/\/(?:[^/?#@]*@)?)([^/?#]*)(.*)$/is.exec(databaseUrl) ?? [];
  return { before, servers, after };
}

/** Whether there is an @ that a password has, since it is not written as %40, or since a / ? # before it ends what may be a password. */
export function hasStrayAt(url: string): boolean {
  const [, authority = '', rest = ''] = /^[a-z]+:\/\/([^/?#]*)(.*)$/is.exec(url) ?? [];
  return rest.includes('@') || authority.split('@').length > 2;
}

/**
 * What is wrong with the servers in DATABASE_URL; undefined if nothing is, or if they can't be told from a password. It follows the name
 * of the variable, and shows none of the value: without an @, a password looks like a port.
 */
export function findDatabaseUrlProblem(url: string): string | undefined {
  if (/[?&]host=[^&#]*,/.test(url))
    return 'has several servers in the parameter "host". Write them before the database: HOST:PORT,HOST:PORT/NAME.';
  if (hasStrayAt(url)) return undefined;
  const { servers } = splitServers(url);
  const entries = servers.split(',');
  if (entries.length > 1 && entries.includes('')) return 'has a comma too many: one of its servers has no host.';
  if (/\s/.test(servers)) return 'has a space among its servers. Separate them by commas alone.';
  return entries.some((entry) => !hasPort(entry)) ? `has a port that is not a number from 1 to ${portMax}.` : undefined;
}

/** As for DATABASE_URL. */
export function findRedisUrlProblem(url: string): string | undefined {
  if (isSentinelUrl(url)) return undefined;
  const [, authority = ''] = /^[a-z]+:\/\/([^/?#]*)/i.exec(url) ?? [];
  if (authority.replace(/^.*@/s, '').includes(','))
    return 'has several servers. For those that Sentinels watch, write redis+sentinel://USER:PASSWORD@SENTINEL:26379,SENTINEL:26379/NAME.';
  if (URL.canParse(url)) return undefined;
  return `can't be parsed. Its port must be a number from 1 to ${portMax}; in the user and the password, write "@" as %40, "/" as %2F, "?" as %3F, "#" as %23 and "%" as %25.`;
}

function hasPort(entry: string): boolean {
  const [, port] = /:([^:\]]*)$/.exec(entry) ?? [];
  return port === undefined || port === '' || (/^\d+$/.test(port) && Number(port) >= 1 && Number(port) <= portMax);
}

/** Where one Sentinel or one Redis server listens. */
export interface RedisAddress {
  readonly host: string;
  readonly port: number;
}

/** What a URL redis+sentinel://USER:PASSWORD@HOST:26379,HOST:26379/NAME says. */
export interface SentinelUrl {
  readonly sentinels: readonly RedisAddress[];
  /** What the Sentinels call the primary and its replicas. */
  readonly name: string;
  /** Of the Redis servers, not of the Sentinels. Empty: their default user. */
  readonly username: string;
  /** Of the Redis servers. Empty: none. */
  readonly password: string;
  /** To the Sentinels and to the servers. */
  readonly tls: boolean;
}

/** Its message has no password, and can follow the name of the variable. */
export class InvalidSentinelUrl extends Error {}

export const sentinelSchemes = ['redis+sentinel', 'rediss+sentinel'] as const;

export const isSentinelUrl = (url: string): boolean => sentinelSchemes.some((scheme) => url.startsWith(`${scheme}://`));

const defaultPort = 26_379;
const portMax = 65_535;

export function parseSentinelUrl(url: string): SentinelUrl {
  // Everything up to the last @ may be part of a password.
  const [, scheme = '', userinfo, servers = '', path = '', parameters = ''] =
    /^([a-z+]+):\/\/(?:(.*)@)?([^/?#]*)([^?#]*)(.*)$/s.exec(url) ?? [];
  const entries = servers.split(',').map(parseEntry);
  const fail = (problem: string): never => {
    const got = `${scheme}://${userinfo === undefined ? '' : '…@'}${showPlace(entries, path, parameters)}`;
    throw new InvalidSentinelUrl(
      `${problem} Write it as ${scheme}://USER:PASSWORD@HOST:${defaultPort},HOST:${defaultPort}/NAME; got "${got}".`,
    );
  };
  const decode = (text: string): string => {
    try {
      return decodeURIComponent(text);
    } catch {
      return fail('has a "%" in the user or the password that encodes nothing: write it as %25.');
    }
  };
  if (userinfo !== undefined && /[/?#@]/.test(userinfo)) {
    fail('has a "/", "?", "#" or "@" in the user or the password: write them as %2F, %3F, %23 and %40.');
  }
  const [, username = '', password = ''] = /^([^:]*):?(.*)$/s.exec(userinfo ?? '') ?? [];
  const sentinels = entries.map(({ host, port }) => {
    if (host === '') return fail('has no host of a Sentinel, or a comma too many.');
    if (host === undefined) return fail('has a host that is none; an IPv6 address needs brackets, as in [::1]:26379.');
    if (port === undefined) return fail(`has a port of ${host} that is not a number from 1 to ${portMax}.`);
    return { host: host.replace(/^\[|\]$/g, ''), port };
  });
  if (/^\/?$/.test(path)) fail('lacks the name that the Sentinels call the primary, such as "mymaster" in "sentinel monitor mymaster".');
  if (!/^\/[\w.-]+$/.test(path)) fail('has a name of the primary with other characters than letters, digits, ".", "-" and "_".');
  if (parameters) fail('has parameters, and can have none.');
  return {
    sentinels,
    name: path.slice(1),
    username: decode(username),
    password: decode(password),
    tls: scheme.startsWith('rediss'),
  };
}

/** Of HOST or HOST:PORT. The host is undefined if it can't be one, the port if it is out of range. */
function parseEntry(entry: string): { host: string | undefined; port: number | undefined } {
  if (entry === '') return { host: '', port: defaultPort };
  const [, host, portText] = /^(\[[\da-f:.]+\]|[\w.-]+)(?::([^:]*))?$/i.exec(entry) ?? [];
  const port = portText === undefined ? defaultPort : Number(portText);
  return { host, port: /^\d*$/.test(portText ?? '') && port >= 1 && port <= portMax ? port : undefined };
}

/** What is no host and no port may be a password that lacks its @, and so may be what follows it. */
function showPlace(entries: ReadonlyArray<ReturnType<typeof parseEntry>>, path: string, parameters: string): string {
  const isClear = entries.every(({ host, port }) => host !== undefined && port !== undefined);
  const servers = entries.map(({ host, port }) => (host === '' ? '' : `${host ?? '…'}:${port ?? '…'}`)).join(',');
  const rest = path + (parameters && '?…');
  return isClear ? servers + rest : `${servers}${rest && '/…'}`;
}

/** Where mail is given to. */
export interface SmtpServer {
  readonly host: string;
  readonly port: number;
  /** TLS from the start. Else by STARTTLS, without which nothing is sent, except to this machine. */
  readonly isTls: boolean;
  readonly isLoopback: boolean;
  readonly login: { readonly user: string; readonly password: string } | undefined;
}

export class InvalidSmtpUrl extends Error {}

const ports = { 'smtp:': 587, 'smtps:': 465 } as const;
const encoding = 'in the user and the password, write "@" as %40, "/" as %2F, "?" as %3F, "#" as %23 and "%" as %25';

/** No message shows the URL, which has a password. */
export function parseSmtpUrl(text: string): SmtpServer {
  const scheme = /^smtps?:(?=\/\/)/.exec(text)?.[0] as keyof typeof ports | undefined;
  if (!scheme) throw new InvalidSmtpUrl('must start with smtp:// (STARTTLS) or smtps:// (TLS from the start).');
  const url = URL.parse(text);
  const host = url?.hostname.replace(/^\[|\]$/g, '');
  if (!url || !host) throw new InvalidSmtpUrl(`can't be parsed. Write ${scheme}//USER:PASSWORD@HOST:${ports[scheme]}; ${encoding}.`);
  if (url.pathname.length > 1 || url.search || url.hash) throw new InvalidSmtpUrl(`must end with the port: ${encoding}.`);
  if ((url.username === '') !== (url.password === ''))
    throw new InvalidSmtpUrl('has a user without a password, or a password without a user.');
  return {
    host,
    port: Number(url.port || ports[scheme]),
    isTls: scheme === 'smtps:',
    isLoopback: isLoopback(host),
    login: url.username ? { user: decoded(url.username), password: decoded(url.password) } : undefined,
  };
}

/** As operators write it: mail.example.org:587. */
export const describeSmtp = ({ host, port }: SmtpServer): string => `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8);
loopback.addAddress('::1', 'ipv6');
const isLoopback = (host: string) => host === 'localhost' || (isIP(host) !== 0 && loopback.check(host, isIP(host) === 6 ? 'ipv6' : 'ipv4'));

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new InvalidSmtpUrl(`has a "%" that is not followed by two hexadecimal digits: ${encoding}.`);
  }
}

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
