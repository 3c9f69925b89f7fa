import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import path from 'node:path';
import { type MailAddress, parseMailAddress } from './email-addresses.ts';
import { findJournalPlace } from './journal-place.ts';
import {
  findDatabaseUrlProblem,
  findRedisUrlProblem,
  InvalidSentinelUrl,
  InvalidSmtpUrl,
  isSentinelUrl,
  parseSentinelUrl,
  parseSmtpUrl,
  type SmtpServer,
  sentinelSchemes,
} from './server-urls.ts';

/** All environment variables. `homeward --help` prints this table. Nothing else reads the environment. */
export const variables = {
  DATABASE_URL: {
    fallback: 'postgres://127.0.0.1:5432/postgres',
    help: 'PostgreSQL 15 or newer; with several hosts, separated by commas, the one that is the primary',
  },
  DATABASE_URL_FILE: { fallback: '', help: 'file that contains DATABASE_URL, for a password that must not be in the environment' },
  REDIS_URL: {
    fallback: 'redis://127.0.0.1:6379',
    help: 'Redis 7 or newer, or Valkey; with redis+sentinel://USER:PASSWORD@HOST:26379,HOST:26379/NAME, the one that these Sentinels name as the primary',
  },
  REDIS_URL_FILE: { fallback: '', help: 'file that contains REDIS_URL' },
  REDIS_SENTINEL_PASSWORD: { fallback: '', help: 'password of the Sentinels; the one in REDIS_URL is that of the Redis servers' },
  REDIS_SENTINEL_PASSWORD_FILE: { fallback: '', help: 'file that contains REDIS_SENTINEL_PASSWORD' },
  HOST: { fallback: '127.0.0.1', help: 'address to listen on' },
  PORT: { fallback: '8080', help: 'port to listen on; 0 picks a free one' },
  HOMEWARD_ENVIRONMENT: {
    fallback: 'production',
    help: 'production or staging: which keys are created and accepted; staging can simulate errors',
  },
  HOMEWARD_OTHER_URL: { fallback: '', help: 'URL of the other environment, mentioned when one of its keys is sent here' },
  HOMEWARD_CATEGORIES: { fallback: 'open', help: 'open: an unknown categoryId registers a category; closed: it is rejected' },
  HOMEWARD_ORDER_EXPIRY: { fallback: '172800', help: 'seconds until an order expires that is not approved' },
  HOMEWARD_APPLICATION_EXPIRY: { fallback: '60', help: 'days after which an application is closed that nobody has answered' },
  HOMEWARD_ADOPTER_RETENTION: {
    fallback: '90',
    help: 'days after which the adopter of a cancelled or expired order is erased, or of an application that led to no adoption',
  },
  HOMEWARD_ADOPTION_RETENTION: {
    fallback: '',
    help: 'days after which the adopter of a completed or returned order is erased; never unless set',
  },
  HOMEWARD_AUDIT_RETENTION: {
    fallback: '1095',
    help: 'days after which rows of the audit are deleted, whole months at a time; 365 at least',
  },
  HOMEWARD_JOURNAL: {
    fallback: '',
    help: 'file to which each erasure, revocation, rotation and suspension is also appended, for homeward restore-check; or a directory that the hosts share, with a slash at the end, which gets a file for each host',
  },
  HOMEWARD_BACKUP_STAMP: {
    fallback: '',
    help: 'file with the time of the last backup, which the backup scripts write; the worker measures its age',
  },
  HOMEWARD_FAILOVER: {
    fallback: '',
    help: 'what a standby that takes over has: lossless: every commit, as a synchronous one has; lossy: it may lack the last; unless set, a worker that is started after a failover waits for homeward restore-check',
  },
  HOMEWARD_PHOTOS: {
    fallback: '',
    help: 'directory or s3://BUCKET for the photos of animals, the same for all processes; photos are off unless set',
  },
  HOMEWARD_PHOTOS_S3_ENDPOINT: { fallback: '', help: 'URL of the S3-compatible store; that of AWS unless set' },
  HOMEWARD_PHOTOS_S3_REGION: { fallback: 'us-east-1', help: 'region of the bucket' },
  HOMEWARD_PHOTOS_S3_KEY_ID: { fallback: '', help: 'access key id for the bucket' },
  HOMEWARD_PHOTOS_S3_SECRET: { fallback: '', help: 'secret access key for the bucket' },
  HOMEWARD_PHOTOS_S3_SECRET_FILE: { fallback: '', help: 'file that contains HOMEWARD_PHOTOS_S3_SECRET' },
  HOMEWARD_PHOTOS_URL: {
    fallback: '',
    help: "URL under which a CDN serves /photos; unless set, photos have paths on the API's own origin",
  },
  HOMEWARD_IMAGES_SOCKET: {
    fallback: '',
    help: 'path of the Unix socket on which homeward images decodes photos for the worker; a child of the worker decodes them unless set',
  },
  HOMEWARD_TRUSTED_PROXIES: { fallback: '', help: 'comma-separated addresses or CIDR ranges whose X-Forwarded-For is trusted' },
  HOMEWARD_POOL_SIZE: { fallback: '10', help: 'PostgreSQL connections per process' },
  HOMEWARD_PAGE_CACHE: {
    fallback: 'on',
    help: 'on: pages of animals are cached until an animal changes; off: each is read from PostgreSQL',
  },
  HOMEWARD_WEBHOOKS_TO_LOOPBACK: { fallback: 'off', help: 'on: webhooks may be sent to this machine, also without TLS; for development' },
  HOMEWARD_PUBLIC_URL: {
    fallback: '',
    help: 'URL under which callers reach the API, such as https://api.example.org; mail has links to it, and the worker measures when its certificate expires',
  },
  HOMEWARD_SITE_URL: {
    fallback: '',
    help: 'URL of the site on which adopters find the animals, such as https://adopt.example.org; pages of adopters lead back to it',
  },
  HOMEWARD_SECURITY_CONTACT: {
    fallback: '',
    help: 'mailto: or https: URL for vulnerability reports, in /.well-known/security.txt',
  },
  HOMEWARD_SMTP_URL: {
    fallback: '',
    help: 'server that mail to adopters and shelters is given to: smtps://USER:PASSWORD@HOST:465, or smtp://USER:PASSWORD@HOST:587 for STARTTLS; no mail unless set, with HOMEWARD_MAIL_FROM and HOMEWARD_PUBLIC_URL',
  },
  HOMEWARD_SMTP_URL_FILE: { fallback: '', help: 'file that contains HOMEWARD_SMTP_URL' },
  HOMEWARD_MAIL_FROM: { fallback: '', help: 'sender of that mail, such as Danube Shelters <adoption@example.org>' },
  HOMEWARD_MAIL_REPLY_TO: {
    fallback: '',
    help: 'who reads replies to mail that names no shelter, such as Danube Shelters <help@example.org>; unless set, they go to the sender',
  },
  HOMEWARD_LANGUAGE: { fallback: 'en', help: 'language of mail and of the pages for adopters: en' },
  HOMEWARD_CONSOLE_HOST: { fallback: '127.0.0.1', help: 'address that homeward console listens on' },
  HOMEWARD_CONSOLE_PORT: { fallback: '8090', help: 'port that homeward console listens on; 0 picks a free one' },
  HOMEWARD_CONSOLE_URL: {
    fallback: '',
    help: 'URL under which people of the store and its shelters reach the console, such as https://console.example.org; http only on this machine, where it is localhost unless set. Links to sign in begin with it, and passkeys belong to its host name',
  },
  HOMEWARD_OIDC_ISSUER: {
    fallback: '',
    help: 'URL of the OpenID provider that people of the console sign in with; only passkeys and links unless set, with the next two',
  },
  HOMEWARD_OIDC_CLIENT_ID: {
    fallback: '',
    help: 'id of the console at that provider; its redirect URI is HOMEWARD_CONSOLE_URL/sign-in/return',
  },
  HOMEWARD_OIDC_CLIENT_SECRET: { fallback: '', help: 'secret of the console at that provider' },
  HOMEWARD_OIDC_CLIENT_SECRET_FILE: { fallback: '', help: 'file that contains HOMEWARD_OIDC_CLIENT_SECRET' },
  HOMEWARD_DRAIN_MS: { fallback: '1500', help: 'ms between failing readiness and closing connections, at shutdown' },
  HOMEWARD_METRICS_PORT: { fallback: '', help: 'port of GET /metrics for Prometheus; 0 picks a free one; no metrics unless set' },
  HOMEWARD_METRICS_HOST: { fallback: '127.0.0.1', help: 'address of that port' },
  OTEL_EXPORTER_OTLP_ENDPOINT: { fallback: '', help: 'URL of an OTLP receiver for traces; no traces unless set' },
  OTEL_SERVICE_NAME: { fallback: 'homeward', help: 'name of the service in traces' },
  OTEL_TRACES_SAMPLER: {
    fallback: 'parentbased_always_on',
    help: 'which requests are traced: always_on, always_off or traceidratio; with parentbased_ before it, the caller decides',
  },
  OTEL_TRACES_SAMPLER_ARG: { fallback: '1', help: 'for traceidratio: the part of requests that is traced, from 0 to 1' },
  LOG_LEVEL: { fallback: 'info', help: 'fatal, error, warn, info, debug, trace or silent' },
} as const;

export type Environment = 'production' | 'staging';

export interface TracingConfig {
  readonly endpoint: string;
  readonly serviceName: string;
  /** The part of requests that is traced, unless the caller decides. */
  readonly ratio: number;
  readonly isParentBased: boolean;
}

/** A bucket of an S3-compatible store. */
export interface S3Config {
  readonly bucket: string;
  /** Without a slash at the end. */
  readonly endpoint: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** How adopters and shelters are told of applications. */
export interface MailConfig {
  readonly smtp: SmtpServer;
  readonly from: MailAddress;
  /** Undefined: replies go to the sender. */
  readonly replyTo: MailAddress | undefined;
  /** Where the pages are that mail has links to. Without a slash at the end. */
  readonly publicUrl: string;
  readonly language: Language;
}

const languages = ['en'] as const;
export type Language = (typeof languages)[number];

/** The provider that people of the console sign in with. */
export interface OidcConfig {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

/** Where the files of photos are. */
export type PhotosConfig = { readonly directory: string } | { readonly s3: S3Config };

export type Config = ReturnType<typeof loadConfig>;

/** A command reads its configuration only when it runs, so that --help works with an invalid one. */
export type ReadConfig = () => Config;

export class ConfigError extends Error {}

/** What is off unless its variable is set is undefined or empty then. */
export function loadConfig(env: Readonly<Record<string, string | undefined>>) {
  const text = (name: keyof typeof variables) => env[name] || variables[name].fallback;
  const oneOf = <T extends string>(name: keyof typeof variables, allowed: readonly T[]): T => {
    const found = allowed.find((value) => value === text(name));
    if (!found) throw new ConfigError(`${name} must be one of ${allowed.join(', ')}; got "${text(name)}".`);
    return found;
  };
  const integer = (name: keyof typeof variables, min: number, max: number): number => {
    const value = Number(text(name));
    if (Number.isInteger(value) && value >= min && value <= max) return value;
    throw new ConfigError(`${name} must be an integer from ${min} to ${max}; got "${text(name)}".`);
  };
  // No message shows the value, which may contain a password.
  const checkUrl = (value: string, where: string, ...schemes: string[]): string => {
    if (schemes.some((scheme) => value.startsWith(`${scheme}://`))) return value;
    throw new ConfigError(`${where} must start with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}.`);
  };
  const serverUrl = (name: 'DATABASE_URL' | 'REDIS_URL', ...schemes: string[]): string => {
    const file = text(`${name}_FILE`);
    if (!file) return checkUrl(text(name), name, ...schemes);
    if (env[name]) throw new ConfigError(`${name} and ${name}_FILE are both set. Set only one of them.`);
    return checkUrl(readSecret(`${name}_FILE`, file), `The content of "${file}", the file in ${name}_FILE,`, ...schemes);
  };
  const checkSentinels = (redisUrl: string): string => {
    try {
      if (isSentinelUrl(redisUrl)) parseSentinelUrl(redisUrl);
      return redisUrl;
    } catch (error) {
      if (error instanceof InvalidSentinelUrl) throw new ConfigError(`REDIS_URL ${error.message}`);
      throw error;
    }
  };
  /** Empty unless one of its two variables is set. */
  const secret = (
    name: 'REDIS_SENTINEL_PASSWORD' | 'HOMEWARD_PHOTOS_S3_SECRET' | 'HOMEWARD_SMTP_URL' | 'HOMEWARD_OIDC_CLIENT_SECRET',
  ): string => {
    const file = text(`${name}_FILE`);
    if (file && text(name)) throw new ConfigError(`${name} and ${name}_FILE are both set. Set only one of them.`);
    return file ? readSecret(`${name}_FILE`, file) : text(name);
  };
  const readTracing = (): TracingConfig => {
    const sampler = oneOf('OTEL_TRACES_SAMPLER', [...samplers, ...samplers.map((name) => `parentbased_${name}` as const)]);
    const ratio = Number(text('OTEL_TRACES_SAMPLER_ARG'));
    if (!(ratio >= 0 && ratio <= 1))
      throw new ConfigError(`OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1; got "${text('OTEL_TRACES_SAMPLER_ARG')}".`);
    return {
      endpoint: checkUrl(text('OTEL_EXPORTER_OTLP_ENDPOINT'), 'OTEL_EXPORTER_OTLP_ENDPOINT', 'http', 'https'),
      serviceName: text('OTEL_SERVICE_NAME'),
      ratio: sampler.endsWith('always_on') ? 1 : sampler.endsWith('always_off') ? 0 : ratio,
      isParentBased: sampler.startsWith('parentbased_'),
    };
  };
  const required = (name: keyof typeof variables): string => {
    if (text(name)) return text(name);
    throw new ConfigError(`${name} must be set if HOMEWARD_PHOTOS is a bucket.`);
  };
  const readS3 = (bucket: string): S3Config => {
    const region = text('HOMEWARD_PHOTOS_S3_REGION');
    const endpoint = text('HOMEWARD_PHOTOS_S3_ENDPOINT') || `https://s3.${region}.amazonaws.com`;
    return {
      bucket,
      region,
      endpoint: checkUrl(endpoint, 'HOMEWARD_PHOTOS_S3_ENDPOINT', 'http', 'https').replace(/\/+$/, ''),
      accessKeyId: required('HOMEWARD_PHOTOS_S3_KEY_ID'),
      secretAccessKey: text('HOMEWARD_PHOTOS_S3_SECRET_FILE') ? secret('HOMEWARD_PHOTOS_S3_SECRET') : required('HOMEWARD_PHOTOS_S3_SECRET'),
    };
  };
  // Not a relative path: the processes of a store may have been started in different directories.
  const readPhotos = (place: string): PhotosConfig => {
    const [, bucket] = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])$/.exec(place) ?? [];
    if (bucket) return { s3: readS3(bucket) };
    if (path.isAbsolute(place)) return { directory: place };
    throw new ConfigError(
      `HOMEWARD_PHOTOS must be the absolute path of a directory, such as /var/lib/homeward/photos, or s3://BUCKET; got "${place}".`,
    );
  };
  const language = oneOf('HOMEWARD_LANGUAGE', languages);
  const publicUrl = readPublicUrl(text('HOMEWARD_PUBLIC_URL'));
  const readMail = (): MailConfig | undefined => {
    const url = secret('HOMEWARD_SMTP_URL');
    const sender = text('HOMEWARD_MAIL_FROM');
    // The URL alone is for other things.
    if (!url && !sender) return undefined;
    const missing = Object.entries({ HOMEWARD_SMTP_URL: url, HOMEWARD_MAIL_FROM: sender, HOMEWARD_PUBLIC_URL: publicUrl })
      .filter(([, value]) => !value)
      .map(([name]) => name);
    if (missing.length > 0) throw new ConfigError(`${missing.join(' and ')} must also be set for mail to be sent.`);
    const replyTo = text('HOMEWARD_MAIL_REPLY_TO');
    return {
      smtp: readSmtp(url),
      from: readMailAddress('HOMEWARD_MAIL_FROM', sender),
      replyTo: replyTo ? readMailAddress('HOMEWARD_MAIL_REPLY_TO', replyTo) : undefined,
      publicUrl,
      language,
    };
  };
  const readOidc = (): OidcConfig | undefined => {
    const issuer = text('HOMEWARD_OIDC_ISSUER');
    const clientId = text('HOMEWARD_OIDC_CLIENT_ID');
    const clientSecret = secret('HOMEWARD_OIDC_CLIENT_SECRET');
    const given = { HOMEWARD_OIDC_ISSUER: issuer, HOMEWARD_OIDC_CLIENT_ID: clientId, HOMEWARD_OIDC_CLIENT_SECRET: clientSecret };
    const missing = Object.entries(given).flatMap(([name, value]) => (value ? [] : [name]));
    if (missing.length === 3) return undefined;
    if (missing.length > 0) throw new ConfigError(`${missing.join(' and ')} must also be set for people to sign in with a provider.`);
    if (!isSecureOrigin(issuer)) throw new ConfigError(`HOMEWARD_OIDC_ISSUER must start with https://, or with http:// on localhost.`);
    return { issuer, clientId, clientSecret };
  };
  return Object.freeze({
    databaseUrl: checkCertificates(
      requirePrimary(checkServers('DATABASE_URL', findDatabaseUrlProblem, serverUrl('DATABASE_URL', 'postgres', 'postgresql'))),
    ),
    redisUrl: checkSentinels(checkServers('REDIS_URL', findRedisUrlProblem, serverUrl('REDIS_URL', 'redis', 'rediss', ...sentinelSchemes))),
    redisSentinelPassword: secret('REDIS_SENTINEL_PASSWORD'),
    host: text('HOST'),
    port: integer('PORT', 0, 65_535),
    environment: oneOf('HOMEWARD_ENVIRONMENT', ['production', 'staging']),
    otherUrl: text('HOMEWARD_OTHER_URL'),
    categories: oneOf('HOMEWARD_CATEGORIES', ['open', 'closed']),
    orderExpirySeconds: integer('HOMEWARD_ORDER_EXPIRY', 1, 31_536_000),
    applicationExpiryDays: integer('HOMEWARD_APPLICATION_EXPIRY', 1, 36_500),
    adopterRetentionDays: integer('HOMEWARD_ADOPTER_RETENTION', 0, 36_500),
    adoptionRetentionDays: text('HOMEWARD_ADOPTION_RETENTION') ? integer('HOMEWARD_ADOPTION_RETENTION', 0, 36_500) : undefined,
    auditRetentionDays: integer('HOMEWARD_AUDIT_RETENTION', 365, 36_500),
    ...findJournalPlace(text('HOMEWARD_JOURNAL')),
    backupStamp: readAbsolutePath('HOMEWARD_BACKUP_STAMP', text('HOMEWARD_BACKUP_STAMP')),
    failover: text('HOMEWARD_FAILOVER') ? oneOf('HOMEWARD_FAILOVER', ['lossless', 'lossy']) : undefined,
    photos: text('HOMEWARD_PHOTOS') ? readPhotos(text('HOMEWARD_PHOTOS')) : undefined,
    photosUrl: text('HOMEWARD_PHOTOS_URL')
      ? checkUrl(text('HOMEWARD_PHOTOS_URL'), 'HOMEWARD_PHOTOS_URL', 'http', 'https').replace(/\/+$/, '')
      : '/photos',
    imagesSocket: text('HOMEWARD_IMAGES_SOCKET') ? readSocketPath(text('HOMEWARD_IMAGES_SOCKET')) : '',
    trustedProxies: readProxies(text('HOMEWARD_TRUSTED_PROXIES')),
    poolSize: integer('HOMEWARD_POOL_SIZE', 1, 1_000),
    pageCache: oneOf('HOMEWARD_PAGE_CACHE', ['on', 'off']),
    webhooksToLoopback: oneOf('HOMEWARD_WEBHOOKS_TO_LOOPBACK', ['on', 'off']),
    publicUrl,
    siteUrl: text('HOMEWARD_SITE_URL') ? checkUrl(text('HOMEWARD_SITE_URL'), 'HOMEWARD_SITE_URL', 'http', 'https') : '',
    mail: readMail(),
    language,
    securityContact: readContact(text('HOMEWARD_SECURITY_CONTACT')),
    consoleHost: text('HOMEWARD_CONSOLE_HOST'),
    consolePort: integer('HOMEWARD_CONSOLE_PORT', 0, 65_535),
    consoleUrl: readConsoleUrl(text('HOMEWARD_CONSOLE_URL')),
    oidc: readOidc(),
    drainMs: integer('HOMEWARD_DRAIN_MS', 0, 60_000),
    metricsPort: text('HOMEWARD_METRICS_PORT') ? integer('HOMEWARD_METRICS_PORT', 0, 65_535) : undefined,
    metricsHost: text('HOMEWARD_METRICS_HOST'),
    tracing: text('OTEL_EXPORTER_OTLP_ENDPOINT') ? readTracing() : undefined,
    logLevel: readLogLevel(text('LOG_LEVEL')),
  });
}

function checkServers(name: string, findProblem: (url: string) => string | undefined, url: string): string {
  const problem = findProblem(url);
  if (problem) throw new ConfigError(`${name} ${problem}`);
  return url;
}

/** The store reads and writes at the primary alone: what a standby shows may be old. */
function requirePrimary(databaseUrl: string): string {
  const [, wanted = 'primary'] = /[?&]target_session_attrs=([^&#]*)/.exec(databaseUrl) ?? [];
  if (wanted === 'primary' || wanted === 'read-write') return databaseUrl;
  throw new ConfigError(
    `target_session_attrs in DATABASE_URL must be read-write or primary, which it also is if omitted; got "${wanted}".`,
  );
}

/** The files that DATABASE_URL names: the driver's own error would tell neither the variable nor the parameter. */
function checkCertificates(databaseUrl: string): string {
  const [, query = ''] = /\?([^#]*)/.exec(databaseUrl) ?? [];
  const parameters = new URLSearchParams(query);
  for (const name of ['sslrootcert', 'sslcert', 'sslkey']) {
    const file = parameters.get(name);
    if (!file) continue;
    const text = readSecret(`${name} in DATABASE_URL`, file);
    const what = name === 'sslkey' ? 'private key' : 'certificate';
    if (!text.includes('-----BEGIN ') || (name !== 'sslkey' && !text.includes(' CERTIFICATE-----')))
      throw new ConfigError(`${name} in DATABASE_URL: the file "${file}" has no ${what} in PEM format, which begins with -----BEGIN.`);
  }
  return databaseUrl;
}

/** What `homeward images` reads: nothing that leads to a server or to a file of the store. */
export interface ImagesConfig {
  readonly socket: string;
  readonly logLevel: string;
}

/** Rejects an environment with secrets: who takes over the process that decodes images could read them there. */
export function loadImagesConfig(env: Readonly<Record<string, string | undefined>>): ImagesConfig {
  const found = secretVariables.find((name) => env[name]);
  if (found) throw new ConfigError(`${found} is set. Unset it for homeward images, which must not know the servers of the store.`);
  if (!env['HOMEWARD_IMAGES_SOCKET']) {
    throw new ConfigError('HOMEWARD_IMAGES_SOCKET must be set, such as /run/homeward-images/images.sock: homeward images listens there.');
  }
  return {
    socket: readSocketPath(env['HOMEWARD_IMAGES_SOCKET']),
    logLevel: readLogLevel(env['LOG_LEVEL'] || variables.LOG_LEVEL.fallback),
  };
}

/** Variables with a password or a key, or with the name of a file that has one. */
const secretVariables = [
  'DATABASE_URL',
  'DATABASE_URL_FILE',
  'REDIS_URL',
  'REDIS_URL_FILE',
  'REDIS_SENTINEL_PASSWORD',
  'REDIS_SENTINEL_PASSWORD_FILE',
  'HOMEWARD_PHOTOS_S3_KEY_ID',
  'HOMEWARD_PHOTOS_S3_SECRET',
  'HOMEWARD_PHOTOS_S3_SECRET_FILE',
  'HOMEWARD_SMTP_URL',
  'HOMEWARD_SMTP_URL_FILE',
  'HOMEWARD_OIDC_CLIENT_SECRET',
  'HOMEWARD_OIDC_CLIENT_SECRET_FILE',
] as const satisfies ReadonlyArray<keyof typeof variables>;

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'];

function readLogLevel(level: string): string {
  if (logLevels.includes(level)) return level;
  throw new ConfigError(`LOG_LEVEL must be one of ${logLevels.join(', ')}; got "${level}".`);
}

/** The kernel takes no longer path of a socket. */
const socketPathBytesMax = 107;

function readSocketPath(socket: string): string {
  if (path.isAbsolute(socket) && Buffer.byteLength(socket) <= socketPathBytesMax) return socket;
  throw new ConfigError(
    `HOMEWARD_IMAGES_SOCKET must be an absolute path of ${socketPathBytesMax} bytes at most, such as /run/homeward-images/images.sock; got "${socket}".`,
  );
}

/** Editors and `echo` end a file with a line break, which is not part of the secret. */
function readSecret(name: string, file: string): string {
  try {
    return readFileSync(file, 'utf8').replace(/[\r\n]+$/, '');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new ConfigError(`${name}: the file "${file}" can't be read (${code}). Does it exist, and may this user read it?`);
  }
}

const samplers = ['always_on', 'always_off', 'traceidratio'] as const;

/** Not a relative path: the process that writes the file runs in another directory. */
function readAbsolutePath(name: keyof typeof variables, file: string): string {
  if (file === '' || path.isAbsolute(file)) return file;
  throw new ConfigError(`${name} must be an absolute path, such as /backup/last-backup; got "${file}".`);
}

/** No message shows a URL with a password. */
function readPublicUrl(value: string): string {
  if (value === '') return '';
  const url = URL.parse(value);
  if (value.includes('@')) throw new ConfigError('HOMEWARD_PUBLIC_URL must have neither a user nor a password.');
  if (url && /^https?:$/.test(url.protocol) && url.search === '' && url.hash === '') return url.href.replace(/\/+$/, '');
  throw new ConfigError(
    `HOMEWARD_PUBLIC_URL must be the URL under which callers reach the API, such as https://api.example.org; got "${value.split('?', 1)[0]}".`,
  );
}

/** An origin without a path: its cookies are for all of it, and browsers give it to passkeys. Without TLS only on this machine. */
function readConsoleUrl(value: string): string {
  if (value === '') return '';
  const url = URL.parse(value);
  if (url && isSecureOrigin(value) && url.href === `${url.origin}/`) return url.origin;
  throw new ConfigError(
    `HOMEWARD_CONSOLE_URL must be the origin of the console, such as https://console.example.org, with http only on this machine; got "${value.replace(/\/\/[^/]*@/, '//…@').split('?', 1)[0]}".`,
  );
}

/** Whether nobody between a browser and it can read what is sent. */
function isSecureOrigin(value: string): boolean {
  const url = URL.parse(value);
  return url?.protocol === 'https:' || (url?.protocol === 'http:' && /^(localhost|127\.0\.0\.1|\[::1\])$/.test(url.hostname));
}

/** No message shows the URL, which has a password. */
function readSmtp(url: string): SmtpServer {
  try {
    return parseSmtpUrl(url);
  } catch (error) {
    if (error instanceof InvalidSmtpUrl) throw new ConfigError(`HOMEWARD_SMTP_URL ${error.message}`);
    throw error;
  }
}

function readMailAddress(name: string, text: string): MailAddress {
  const address = parseMailAddress(text);
  if (address) return address;
  throw new ConfigError(
    `${name} must be an address, such as adoption@example.org or Danube Shelters <adoption@example.org>; got "${text}".`,
  );
}

/** Visible ASCII only, since it becomes a line of security.txt. */
function readContact(contact: string): string {
  const isMail = /^mailto:[^@?]+@[^@?]+$/.test(contact);
  const isPage = contact.startsWith('https://') && URL.canParse(contact);
  if (contact === '' || (/^[\x21-\x7e]+$/.test(contact) && (isMail || isPage))) return contact;
  throw new ConfigError(
    `HOMEWARD_SECURITY_CONTACT must be a URL such as mailto:security@example.org or https://example.org/security; got "${contact}".`,
  );
}

function readProxies(list: string): string[] {
  const proxies = list
    .split(',')
    .map((one) => one.trim())
    .filter(Boolean);
  for (const proxy of proxies) {
    const [address = '', bits, ...rest] = proxy.split('/');
    const bitsMax = isIP(address) === 6 ? 128 : 32;
    // Not /0, which would trust everyone.
    const isRange = bits === undefined || (/^\d+$/.test(bits) && Number(bits) >= 1 && Number(bits) <= bitsMax);
    const isValid = isIP(address) !== 0 && rest.length === 0 && isRange;
    if (!isValid)
      throw new ConfigError(`HOMEWARD_TRUSTED_PROXIES must be a list of addresses or CIDR ranges, such as 10.0.0.0/8; got "${proxy}".`);
  }
  return proxies;
}
