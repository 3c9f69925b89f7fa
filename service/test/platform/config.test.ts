import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { ConfigError, loadConfig, loadImagesConfig } from '../../src/platform/config.ts';

describe('loadConfig', () => {
  test('of an empty environment has the defaults for a first start on one machine', () => {
    expect(loadConfig({})).toEqual({
      databaseUrl: 'postgres://127.0.0.1:5432/postgres',
      redisUrl: 'redis://127.0.0.1:6379',
      redisSentinelPassword: '',
      host: '127.0.0.1',
      port: 8080,
      environment: 'production',
      otherUrl: '',
      categories: 'open',
      orderExpirySeconds: 172_800,
      applicationExpiryDays: 60,
      auditRetentionDays: 1_095,
      adopterRetentionDays: 90,
      adoptionRetentionDays: undefined,
      journalFile: '',
      journalDirectory: '',
      backupStamp: '',
      photos: undefined,
      photosUrl: '/photos',
      imagesSocket: '',
      trustedProxies: [],
      poolSize: 10,
      pageCache: 'on',
      webhooksToLoopback: 'off',
      publicUrl: '',
      consoleUrl: '',
      consoleHost: '127.0.0.1',
      consolePort: 8_090,
      oidc: undefined,
      mail: undefined,
      siteUrl: '',
      language: 'en',
      securityContact: '',
      drainMs: 1_500,
      metricsPort: undefined,
      metricsHost: '127.0.0.1',
      tracing: undefined,
      logLevel: 'info',
    });
  });

  test('reads every variable', () => {
    expect(
      loadConfig({
        DATABASE_URL: 'postgresql://db/homeward',
        REDIS_URL: 'rediss://redis',
        REDIS_SENTINEL_PASSWORD: 'sesame',
        HOST: '0.0.0.0',
        PORT: '0',
        HOMEWARD_ENVIRONMENT: 'staging',
        HOMEWARD_OTHER_URL: 'https://api.example/v1',
        HOMEWARD_CATEGORIES: 'closed',
        HOMEWARD_ORDER_EXPIRY: '60',
        HOMEWARD_ADOPTER_RETENTION: '0',
        HOMEWARD_ADOPTION_RETENTION: '3650',
        HOMEWARD_AUDIT_RETENTION: '730',
        HOMEWARD_JOURNAL: '/var/log/homeward/journal',
        HOMEWARD_BACKUP_STAMP: '/backup/last-backup',
        HOMEWARD_PHOTOS: '/var/lib/homeward/photos',
        HOMEWARD_PHOTOS_URL: 'https://cdn.example/photos/',
        HOMEWARD_IMAGES_SOCKET: '/run/homeward-images/images.sock',
        HOMEWARD_TRUSTED_PROXIES: '10.0.0.0/8, 2001:db8::/32,127.0.0.1',
        HOMEWARD_POOL_SIZE: '5',
        HOMEWARD_PAGE_CACHE: 'off',
        HOMEWARD_WEBHOOKS_TO_LOOPBACK: 'on',
        HOMEWARD_PUBLIC_URL: 'https://api.example.org/',
        HOMEWARD_CONSOLE_URL: 'https://console.example.org/',
        HOMEWARD_SECURITY_CONTACT: 'mailto:security@example.org',
        HOMEWARD_SMTP_URL: 'smtp://store:p%40ss@mail.example.org',
        HOMEWARD_MAIL_FROM: 'Danube Shelters <adoption@example.org>',
        HOMEWARD_LANGUAGE: 'en',
        HOMEWARD_DRAIN_MS: '0',
        HOMEWARD_METRICS_PORT: '9464',
        HOMEWARD_METRICS_HOST: '0.0.0.0',
        OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318',
        OTEL_SERVICE_NAME: 'store',
        OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
        OTEL_TRACES_SAMPLER_ARG: '0.01',
        LOG_LEVEL: 'silent',
      }),
    ).toEqual({
      databaseUrl: 'postgresql://db/homeward',
      redisUrl: 'rediss://redis',
      redisSentinelPassword: 'sesame',
      host: '0.0.0.0',
      port: 0,
      environment: 'staging',
      otherUrl: 'https://api.example/v1',
      categories: 'closed',
      orderExpirySeconds: 60,
      applicationExpiryDays: 60,
      auditRetentionDays: 730,
      adopterRetentionDays: 0,
      adoptionRetentionDays: 3_650,
      journalFile: '/var/log/homeward/journal',
      journalDirectory: '',
      backupStamp: '/backup/last-backup',
      photos: { directory: '/var/lib/homeward/photos' },
      photosUrl: 'https://cdn.example/photos',
      imagesSocket: '/run/homeward-images/images.sock',
      trustedProxies: ['10.0.0.0/8', '2001:db8::/32', '127.0.0.1'],
      poolSize: 5,
      pageCache: 'off',
      webhooksToLoopback: 'on',
      publicUrl: 'https://api.example.org',
      consoleUrl: 'https://console.example.org',
      consoleHost: '127.0.0.1',
      consolePort: 8_090,
      oidc: undefined,
      mail: {
        smtp: {
          host: 'mail.example.org',
          port: 587,
          isTls: false,
          isLoopback: false,
          login: { user: 'store', password: 'p@ss' },
        },
        from: { name: 'Danube Shelters', address: 'adoption@example.org' },
        publicUrl: 'https://api.example.org',
        language: 'en',
      },
      siteUrl: '',
      language: 'en',
      securityContact: 'mailto:security@example.org',
      drainMs: 0,
      metricsPort: 9_464,
      metricsHost: '0.0.0.0',
      tracing: { endpoint: 'http://collector:4318', serviceName: 'store', ratio: 0.01, isParentBased: true },
      logLevel: 'silent',
    });
  });

  test('treats an empty variable like one that is not set', () => {
    expect(loadConfig({ PORT: '', LOG_LEVEL: '' })).toMatchObject({ port: 8080, logLevel: 'info' });
  });

  test('cannot be changed afterwards', () => {
    expect(Object.isFrozen(loadConfig({}))).toBe(true);
  });

  test.each([
    ['PORT', '65536', 'PORT must be an integer from 0 to 65535; got "65536".'],
    ['PORT', 'http', 'PORT must be an integer from 0 to 65535; got "http".'],
    ['PORT', '80.5', 'PORT must be an integer from 0 to 65535; got "80.5".'],
    ['HOMEWARD_ENVIRONMENT', 'test', 'HOMEWARD_ENVIRONMENT must be one of production, staging; got "test".'],
    ['HOMEWARD_CATEGORIES', 'shut', 'HOMEWARD_CATEGORIES must be one of open, closed; got "shut".'],
    ['HOMEWARD_ORDER_EXPIRY', '0', 'HOMEWARD_ORDER_EXPIRY must be an integer from 1 to 31536000; got "0".'],
    ['HOMEWARD_ADOPTER_RETENTION', '90d', 'HOMEWARD_ADOPTER_RETENTION must be an integer from 0 to 36500; got "90d".'],
    ['HOMEWARD_ADOPTION_RETENTION', '-1', 'HOMEWARD_ADOPTION_RETENTION must be an integer from 0 to 36500; got "-1".'],
    [
      'HOMEWARD_PHOTOS',
      'photos',
      'HOMEWARD_PHOTOS must be the absolute path of a directory, such as /var/lib/homeward/photos, or s3://BUCKET; got "photos".',
    ],
    [
      'HOMEWARD_IMAGES_SOCKET',
      'images.sock',
      'HOMEWARD_IMAGES_SOCKET must be an absolute path of 107 bytes at most, such as /run/homeward-images/images.sock; got "images.sock".',
    ],
    ['HOMEWARD_PHOTOS_URL', 'cdn.example', 'HOMEWARD_PHOTOS_URL must start with http:// or https://.'],
    ['HOMEWARD_POOL_SIZE', '0', 'HOMEWARD_POOL_SIZE must be an integer from 1 to 1000; got "0".'],
    ['HOMEWARD_DRAIN_MS', '-1', 'HOMEWARD_DRAIN_MS must be an integer from 0 to 60000; got "-1".'],
    ['HOMEWARD_METRICS_PORT', 'http', 'HOMEWARD_METRICS_PORT must be an integer from 0 to 65535; got "http".'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318', 'OTEL_EXPORTER_OTLP_ENDPOINT must start with http:// or https://.'],
    ['LOG_LEVEL', 'loud', 'LOG_LEVEL must be one of fatal, error, warn, info, debug, trace, silent; got "loud".'],
  ])('rejects %s=%s and says which values are valid', (name, value, message) => {
    expect(() => loadConfig({ [name]: value })).toThrow(new ConfigError(message));
  });

  test('of photos in a bucket reads where it is, and the secret from a file too', () => {
    const bucket = { HOMEWARD_PHOTOS: 's3://photos', HOMEWARD_PHOTOS_S3_KEY_ID: 'id' };
    const secret = { HOMEWARD_PHOTOS_S3_SECRET: 'secret' };
    expect(loadConfig({ ...bucket, ...secret }).photos).toEqual({
      s3: {
        bucket: 'photos',
        region: 'us-east-1',
        endpoint: 'https://s3.us-east-1.amazonaws.com',
        accessKeyId: 'id',
        secretAccessKey: 'secret',
      },
    });
    const folder = mkdtempSync(path.join(tmpdir(), 'homeward-secrets-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = path.join(folder, 's3-secret');
    writeFileSync(file, 'from a file\n');
    const elsewhere = { HOMEWARD_PHOTOS_S3_ENDPOINT: 'http://127.0.0.1:9000/', HOMEWARD_PHOTOS_S3_SECRET_FILE: file };
    expect(loadConfig({ ...bucket, ...elsewhere }).photos).toMatchObject({
      s3: { endpoint: 'http://127.0.0.1:9000', secretAccessKey: 'from a file' },
    });
    expect(() => loadConfig(bucket)).toThrow('HOMEWARD_PHOTOS_S3_SECRET must be set if HOMEWARD_PHOTOS is a bucket.');
    expect(() => loadConfig({ ...bucket, ...secret, ...elsewhere })).toThrow('are both set. Set only one of them.');
  });

  test('has mail only with a server, a sender and a public URL, and says which of them is missing', () => {
    const [server, sender] = [{ HOMEWARD_SMTP_URL: 'smtps://store:sesame@mail.example.org' }, { HOMEWARD_MAIL_FROM: 'a@example.org' }];
    const publicUrl = { HOMEWARD_PUBLIC_URL: 'https://api.example.org' };
    expect(loadConfig(publicUrl).mail).toBeUndefined();
    expect(loadConfig({ ...server, ...sender, ...publicUrl }).mail).toMatchObject({
      smtp: { port: 465 },
      from: { address: 'a@example.org' },
    });
    expect(() => loadConfig({ ...server, ...sender })).toThrow(
      new ConfigError('HOMEWARD_PUBLIC_URL must also be set for mail to be sent.'),
    );
    expect(() => loadConfig(sender)).toThrow(
      new ConfigError('HOMEWARD_SMTP_URL and HOMEWARD_PUBLIC_URL must also be set for mail to be sent.'),
    );
    expect(() => loadConfig({ ...server, ...publicUrl })).toThrow(
      new ConfigError('HOMEWARD_MAIL_FROM must also be set for mail to be sent.'),
    );
  });

  test.each(['smtp://store:ses/ame@mail.example.org', 'http://store:sesame@mail.example.org', 'smtp://store:sesame@mail.example.org/x'])(
    'rejects a server for mail that can not be meant, and does not show the password: %s',
    (url) => {
      const load = () =>
        loadConfig({ HOMEWARD_SMTP_URL: url, HOMEWARD_MAIL_FROM: 'a@example.org', HOMEWARD_PUBLIC_URL: 'https://example.org' });
      expect(load).toThrow(/^HOMEWARD_SMTP_URL /);
      expect(load).not.toThrow(/sesame|ses.ame/);
    },
  );

  test.each(['nobody', 'a@b@example.org', 'A <a@example.org', 'a@example.org\nBcc: b@example.org', 'a@example', 'ä@example.org'])(
    'rejects %j as a sender of mail',
    (from) => {
      const others = { HOMEWARD_SMTP_URL: 'smtp://localhost', HOMEWARD_PUBLIC_URL: 'https://example.org' };
      expect(() => loadConfig({ ...others, HOMEWARD_MAIL_FROM: from })).toThrow('HOMEWARD_MAIL_FROM must be an address, such as');
    },
  );

  test('of traces rejects a sampler and a ratio that do not exist, and reads them only if traces are on', () => {
    const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };
    expect(() => loadConfig({ ...endpoint, OTEL_TRACES_SAMPLER: 'jaeger' })).toThrow(
      /OTEL_TRACES_SAMPLER must be one of always_on, .*got "jaeger"/,
    );
    expect(() => loadConfig({ ...endpoint, OTEL_TRACES_SAMPLER_ARG: '1%' })).toThrow(
      new ConfigError('OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1; got "1%".'),
    );
    expect(loadConfig({ ...endpoint, OTEL_TRACES_SAMPLER: 'always_off' }).tracing).toMatchObject({ ratio: 0, isParentBased: false });
    expect(loadConfig({ ...endpoint }).tracing).toMatchObject({ ratio: 1, isParentBased: true });
    expect(loadConfig({ OTEL_TRACES_SAMPLER: 'jaeger' }).tracing).toBeUndefined();
  });

  test.each(['loopback', '0.0.0.0/0', '::/0', '10.0.0.0/33', '2001:db8::/129', '10.0.0.0/8/8', '10.0.0.0/', 'all', '10.0.0.0/-1'])(
    'rejects %s as a trusted proxy and shows it',
    (proxy) => {
      expect(() => loadConfig({ HOMEWARD_TRUSTED_PROXIES: `127.0.0.1,${proxy}` })).toThrow(
        new ConfigError(`HOMEWARD_TRUSTED_PROXIES must be a list of addresses or CIDR ranges, such as 10.0.0.0/8; got "${proxy}".`),
      );
    },
  );

  test('takes neither a relative path for the time of the last backup, nor what is no URL of the API', () => {
    expect(() => loadConfig({ HOMEWARD_BACKUP_STAMP: 'last-backup' })).toThrow(
      new ConfigError('HOMEWARD_BACKUP_STAMP must be an absolute path, such as /backup/last-backup; got "last-backup".'),
    );
    for (const url of [
      'api.example.org',
      'ftp://api.example.org',
      'https://',
      'https://api.example.org/?a=1',
      'https://api.example.org/#a',
    ])
      expect(() => loadConfig({ HOMEWARD_PUBLIC_URL: url })).toThrow(
        new ConfigError(
          `HOMEWARD_PUBLIC_URL must be the URL under which callers reach the API, such as https://api.example.org; got "${url.split('?', 1)[0]}".`,
        ),
      );
    expect(() => loadConfig({ HOMEWARD_PUBLIC_URL: 'https://me:sesame@api.example.org' })).toThrow(
      new ConfigError('HOMEWARD_PUBLIC_URL must have neither a user nor a password.'),
    );
    expect(loadConfig({ HOMEWARD_PUBLIC_URL: 'https://api.example.org/store/' }).publicUrl).toBe('https://api.example.org/store');
  });

  test('takes the address of a site for adopters, and none that is not of the web', () => {
    expect(loadConfig({ HOMEWARD_SITE_URL: 'https://adopt.example.org/' }).siteUrl).toBe('https://adopt.example.org/');
    expect(() => loadConfig({ HOMEWARD_SITE_URL: 'javascript:alert(1)' })).toThrow('HOMEWARD_SITE_URL');
  });

  test.each(['https://example.org/security', 'mailto:security@example.org'])('accepts %s as a security contact', (contact) => {
    expect(loadConfig({ HOMEWARD_SECURITY_CONTACT: contact }).securityContact).toBe(contact);
  });

  test.each([
    'security@example.org',
    'http://example.org/security',
    'https://',
    'mailto:security',
    'mailto:a@b@example.org',
    'mailto:security@example.org\nContact: mailto:other@example.org',
    'mailto:sécurité@example.org',
    'tel:+1-201-555-0123',
  ])('rejects %j as a security contact and shows it', (contact) => {
    expect(() => loadConfig({ HOMEWARD_SECURITY_CONTACT: contact })).toThrow(
      new ConfigError(
        `HOMEWARD_SECURITY_CONTACT must be a URL such as mailto:security@example.org or https://example.org/security; got "${contact}".`,
      ),
    );
  });

  test.each([
    ['DATABASE_URL', 'postgres://me:pw@a:5432,b:5432,/db', 'has a comma too many: one of its servers has no host.'],
    ['DATABASE_URL', 'postgres://me:pw@a:5432, b:5432/db', 'has a space among its servers.'],
    ['DATABASE_URL', 'postgres://me:pw@a:99999/db', 'has a port that is not a number from 1 to 65535.'],
    ['DATABASE_URL', 'postgres://me:hunter2/db', 'has a port that is not a number from 1 to 65535.'],
    ['DATABASE_URL', 'postgres://me:pw@/db?host=a,b', 'has several servers in the parameter "host".'],
    ['REDIS_URL', 'redis://:pw@a:6379,b:6379', 'has several servers. For those that Sentinels watch, write redis+sentinel://'],
    ['REDIS_URL', 'redis://a:99999', "can't be parsed. Its port must be a number from 1 to 65535;"],
    ['REDIS_URL', 'redis://:hunter2/x@a', "can't be parsed."],
  ])("rejects servers in %s that can't be meant: %s", (name, url, problem) => {
    expect(() => loadConfig({ [name]: url })).toThrow(ConfigError);
    expect(() => loadConfig({ [name]: url })).toThrow(`${name} ${problem}`);
    expect(() => loadConfig({ [name]: url })).not.toThrow(/hunter2/);
  });

  test.each([
    ['DATABASE_URL', 'postgres:///db?host=/run/postgresql'],
    ['DATABASE_URL', 'postgres://%2Frun%2Fpostgresql/db'],
    ['DATABASE_URL', 'postgres://me:p%2Cw@[::1],[::1]:5433/db'],
    // It is explained when it is used.
    ['DATABASE_URL', 'postgres://me:p/w@a:5432/db'],
    ['REDIS_URL', 'rediss://me:p,w@[::1]:6379/1'],
    ['REDIS_URL', 'redis://localhost'],
  ])('accepts in %s: %s', (name, url) => {
    expect(() => loadConfig({ [name]: url })).not.toThrow();
  });

  test.each(['DATABASE_URL', 'REDIS_URL'])('rejects a %s of another kind, and does not show it: it may contain a password', (name) => {
    const load = () => loadConfig({ [name]: 'mysql://user:secret@db' });
    expect(load).toThrow(`${name} must start with`);
    expect(load).not.toThrow('secret');
  });
});

describe.each([
  { name: 'DATABASE_URL', field: 'databaseUrl', secret: 'postgres://api:secret@db/homeward' },
  { name: 'REDIS_URL', field: 'redisUrl', secret: 'rediss://:secret@redis:6379' },
] as const)('$name from a file', ({ name, field, secret }) => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'homeward-secrets-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  function loadFrom(content: string) {
    const file = path.join(folder, 'url');
    writeFileSync(file, content);
    return { file, load: () => loadConfig({ [`${name}_FILE`]: file }) };
  }

  test.each(['', '\n', '\r\n', '\n\n'])('that ends in %j has the value without it', (end) => {
    expect(loadFrom(secret + end).load()[field]).toBe(secret);
  });

  test('is an error if the variable is set too, and shows neither value', () => {
    const { file } = loadFrom(secret);
    const load = () => loadConfig({ [`${name}_FILE`]: file, [name]: secret });
    expect(load).toThrow(new ConfigError(`${name} and ${name}_FILE are both set. Set only one of them.`));
  });

  test('that is empty or another kind of URL is an error that names the file and does not show the content', () => {
    for (const content of ['', '\n', 'mysql://user:secret@db']) {
      const { file, load } = loadFrom(content);
      expect(load).toThrow(`The content of "${file}", the file in ${name}_FILE, must start with `);
      expect(load).not.toThrow('secret@');
    }
  });

  test('that does not exist or is a folder is an error that names the file and the variable', () => {
    const lost = path.join(folder, 'lost');
    for (const [file, code] of [
      [lost, 'ENOENT'],
      [folder, 'EISDIR'],
    ] as const)
      expect(() => loadConfig({ [`${name}_FILE`]: file })).toThrow(
        new ConfigError(`${name}_FILE: the file "${file}" can't be read (${code}). Does it exist, and may this user read it?`),
      );
  });

  test('is the variable itself if the name of the file is empty', () => {
    expect(loadConfig({ [`${name}_FILE`]: '', [name]: secret })[field]).toBe(secret);
  });
});

describe('The password of the Sentinels', () => {
  test('is read from a file, without the line break at its end, and not beside the variable', () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'homeward-secrets-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = path.join(folder, 'password');
    writeFileSync(file, 'sesame\n');
    expect(loadConfig({ REDIS_SENTINEL_PASSWORD_FILE: file }).redisSentinelPassword).toBe('sesame');
    expect(() => loadConfig({ REDIS_SENTINEL_PASSWORD_FILE: file, REDIS_SENTINEL_PASSWORD: 'sesame' })).toThrow(
      new ConfigError('REDIS_SENTINEL_PASSWORD and REDIS_SENTINEL_PASSWORD_FILE are both set. Set only one of them.'),
    );
    expect(() => loadConfig({ REDIS_SENTINEL_PASSWORD_FILE: path.join(folder, 'lost') })).toThrow("can't be read (ENOENT)");
  });
});

describe('loadImagesConfig', () => {
  const HOMEWARD_IMAGES_SOCKET = '/run/homeward-images/images.sock';

  test('reads the socket and the level of the log, and ignores settings that lead nowhere', () => {
    expect(loadImagesConfig({ HOMEWARD_IMAGES_SOCKET, HOST: '0.0.0.0', LOG_LEVEL: 'warn' })).toEqual({
      socket: HOMEWARD_IMAGES_SOCKET,
      logLevel: 'warn',
    });
  });

  test.each([
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
  ])('rejects %s, without its value', (name) => {
    const load = () => loadImagesConfig({ HOMEWARD_IMAGES_SOCKET, [name]: 'sesame' });
    expect(load).toThrow(`${name} is set. Unset it for homeward images`);
    expect(load).not.toThrow('sesame');
  });

  test('needs a socket', () => {
    expect(() => loadImagesConfig({})).toThrow('HOMEWARD_IMAGES_SOCKET must be set');
  });
});
