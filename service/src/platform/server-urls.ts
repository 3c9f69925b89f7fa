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
