import { isSentinelUrl } from './sentinel-url.ts';

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

const portMax = 65_535;
function hasPort(entry: string): boolean {
  const [, port] = /:([^:\]]*)$/.exec(entry) ?? [];
  return port === undefined || port === '' || (/^\d+$/.test(port) && Number(port) >= 1 && Number(port) <= portMax);
}
