import { existsSync } from 'node:fs';
import { isIP } from 'node:net';
import path from 'node:path';
import pg from 'pg';
import type { Config } from '../../platform/config.ts';
import { addressesOf } from '../../platform/server-urls.ts';
import { type Finding, findingOf, guarded, inOrder, type Judgement, note, ok, warning } from './finding.ts';
import { checkDisk, checkJournalLines, judgeClocks } from './machine-checks.ts';
import { apiEntrance, checkMail, checkProvider, checkUrl, consoleEntrance } from './outside-checks.ts';
import { checkImages, checkPhotos } from './photos-check.ts';
import { checkConsole, checkPorts } from './port-check.ts';
import { examinePostgres } from './postgres-checks.ts';
import { examineRedis } from './redis-checks.ts';

interface DoctorParts {
  readonly config: Config;
  /** Where partners reach the store. Undefined: neither this nor the URL of the console is looked at from outside. */
  readonly url?: URL | undefined;
}

/**
 * Checks everything that a store needs, and changes nothing. It opens its own connections, one to each server, since it must work
 * when nothing else does. All that does not depend on each other runs at the same time, and each part has a timeout.
 */
export async function examine({ config, url }: DoctorParts): Promise<Finding[]> {
  const examined = examinePostgres(config);
  const { mail: mailConfig, oidc, consoleUrl } = config;
  const hasConsoleOutside = url && consoleUrl.startsWith('https:');
  const [postgres, redis, photos, images, mail, port, consolePort, outside, consoleOutside, provider] = await Promise.all([
    examined,
    examineRedis(config),
    guarded('photos', async () => checkPhotos(config.photos, (await examined).photos)),
    config.photos ? guarded('images', () => checkImages(config.imagesSocket)) : [],
    mailConfig ? guarded('mail', () => checkMail(mailConfig)) : [],
    guarded('port', () => checkPorts(config)),
    guarded('console', () => checkConsole(config, Boolean(hasConsoleOutside))),
    url ? guarded('url', () => checkUrl(url, apiEntrance)) : [],
    hasConsoleOutside ? guarded('console', () => checkUrl(new URL(consoleUrl), consoleEntrance)) : [],
    oidc ? guarded('provider', () => checkProvider(oidc)) : [],
  ]);
  const disk = await guarded('disk', () => checkDisk(config, localDirectory(config.databaseUrl, postgres.dataDirectory)));
  const { ended } = postgres;
  const journal = ended && config.journalFile ? await guarded('disk', () => checkJournalLines(config, ended)) : [];
  const clock = findingOf('clock', judgeClocks({ PostgreSQL: postgres.clock, Redis: redis.clock }));
  return inOrder([
    findingOf('configuration', checkSettings(config)),
    ...postgres.findings,
    ...redis.findings,
    clock,
    ...disk,
    ...journal.filter(({ severity }) => severity !== 'ok'),
    ...photos,
    ...images,
    ...mail,
    ...port,
    ...consolePort,
    ...outside,
    ...consoleOutside,
    ...provider,
  ]);
}

/** What is valid and yet unwise. */
export function checkSettings(config: Config): Judgement {
  const { environment, webhooksToLoopback, journalFile, host, trustedProxies, consoleHost, consoleUrl } = config;
  if (webhooksToLoopback === 'on' && environment === 'production') {
    const found = 'HOMEWARD_WEBHOOKS_TO_LOOPBACK is on: a partner can reach every service that listens on this machine.';
    return warning(found, 'Unset it. It is for development.');
  }
  // The console speaks no TLS itself: anyone who opens an https: URL comes by a proxy.
  if (consoleUrl.startsWith('https:') && isLoopback(consoleHost) && trustedProxies.length === 0) {
    const found = `A proxy leads from ${consoleUrl} to ${consoleHost}, and HOMEWARD_TRUSTED_PROXIES is empty: all who are not signed in count as one address, and keep each other out.`;
    return warning(found, 'Set it to the addresses of the proxy, such as 127.0.0.1,::1 for one on this machine.');
  }
  if (!journalFile) {
    const found = 'HOMEWARD_JOURNAL is not set: after a restore, what was erased or revoked since can only be found in the log.';
    return note(found, 'Set it to a file, for the worker and for everyone who runs commands.');
  }
  if (!isLoopback(host) && trustedProxies.length === 0) {
    const found = `HOST is ${host} and HOMEWARD_TRUSTED_PROXIES is empty: behind a load balancer, all callers have its address.`;
    return note(found, 'Set it to the addresses of the load balancer, if there is one.');
  }
  return ok('All variables are valid.');
}

/** The folder of PostgreSQL's data, if it is on this machine and this user may look there. */
function localDirectory(databaseUrl: string, directory: string | null | undefined): string | undefined {
  if (!directory) return undefined;
  const hosts = addressesOf(databaseUrl).map((address) => new pg.Client({ connectionString: address }).host);
  if (!hosts.every((host) => host.startsWith('/') || isLoopback(host))) return undefined;
  // In a container of its own, PostgreSQL has another root.
  return existsSync(path.join(directory, 'PG_VERSION')) ? directory : undefined;
}

const isLoopback = (host: string) => host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
