// The allowed import directions of the service: wings, the folders in them, and what each kind of file may know.

const src = '^service/src';

/**
 * The wings of the service and the folders in each, from the top down. A folder may import only from folders below it, in its own wing or
 * in a later one, so there can be no cycle.
 */
const wings = {
  cli: ['processes', 'animals', 'adoption', 'access', 'repair', 'terminal'],
  console: [
    'today',
    'undo',
    'adoptions',
    'photos',
    'animals',
    'people',
    'shelters',
    'account',
    'sign-in',
    'screens',
    'forms',
    'sessions',
    'frame',
  ],
  operations: ['doctor', 'recovery', 'telemetry'],
  search: ['listings', 'phrases'],
  adoption: ['verify', 'undo', 'outcomes', 'shelters', 'adopter-page', 'applications', 'orders', 'questions'],
  animals: ['photos', 'profiles', 'pets', 'categories', 'history', 'list-cache'],
  images: [],
  changes: ['mail', 'delivery', 'webhooks', 'events'],
  access: ['usage', 'idempotency', 'admission', 'people', 'clients', 'principals', 'audit', 'rate-limit'],
  platform: ['http', 'journal', 'redis', 'db', 'bounded', 'tracing'],
  domain: [],
};

const names = Object.keys(wings);
const floors = Object.entries(wings).flatMap(([wing, folders]) => folders.map((folder) => `${wing}/${folder}`));

/** Of types too: a type that runs back ties the wings together as a function does. */
const neverUp = (from, above, what) => ({
  name: `up-from-${from.replace('/', '-')}`,
  comment: `${what} ${from}/ is below ${above.join(', ')}. Move what both need to one below, or pass it as an argument.`,
  severity: 'error',
  from: { path: `${src}/${from}/` },
  to: { path: `${src}/(${above.join('|')})/` },
});

const wingsNeverUp = names.slice(1).map((wing, index) => neverUp(wing, names.slice(0, index + 1), 'The wing'));
const floorsNeverUp = Object.entries(wings).flatMap(([wing, folders]) =>
  folders.slice(1).map((folder, index) =>
    neverUp(
      `${wing}/${folder}`,
      folders.slice(0, index + 1).map((above) => `${wing}/${above}`),
      'The folder',
    ),
  ),
);

/** The folders of the product's features, and what they stand on. */
const feature = `${src}/(operations/(doctor|recovery)|(?:search|adoption|animals|changes)/[^/]+|images|access/(?!admission/)[^/]+|platform/(db|redis|journal|bounded)|domain)/`;

/** Settings, errors and the like. */
const leaves = `${src}/platform/(errors|config|clock|characters|html|email-addresses|journal-place|smtp-url|server-urls|server-addresses|tls-faults)\\.ts$`;

export default {
  forbidden: [
    ...wingsNeverUp,
    ...floorsNeverUp,
    {
      name: 'folder-without-floor',
      comment: 'A folder of the service that is in no wing. Add it to the list, at its level.',
      severity: 'error',
      from: { path: `${src}/(?!(cli|domain|images|${floors.join('|')})/)[^/]+/`, pathNot: `${src}/(platform|console)/[^/]+$` },
      to: {},
    },
    {
      name: 'no-cycle',
      comment: 'Modules that need each other are one module. Only types may be imported both ways: they do not exist at run time.',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'no-unresolvable',
      comment: 'An import that does not resolve.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: 'service-stands-alone',
      comment: 'Code that is shipped must not depend on code for tests and proofs.',
      severity: 'error',
      from: { path: `${src}/` },
      to: { path: '^(proofs|testkit|tools|bench|sdk|service/test)/' },
    },
    {
      name: 'testkit-below-its-users',
      comment: 'Tests, proofs and the bench share the testkit; it imports from none of them.',
      severity: 'error',
      from: { path: '^testkit/' },
      to: { path: '^(proofs|tools|bench|service/test|sdk)/' },
    },
    {
      name: 'proofs-and-bench-are-the-top',
      comment: 'Code that a test or a tool shares with a proof or the bench belongs in the testkit.',
      severity: 'error',
      from: { pathNot: '^(proofs|bench)/' },
      to: { path: '^(proofs|bench)/' },
    },
    {
      name: 'bench-and-proofs-apart',
      comment: 'Code that the bench shares with a proof belongs in the testkit.',
      severity: 'error',
      from: { path: '^(proofs|bench)/' },
      to: { path: '^(proofs|bench)/', pathNot: '^$1/' },
    },
    {
      name: 'images-know-no-store',
      comment: 'The image process decodes hostile bytes: it has nothing of the store but its own files, the platform and the tables.',
      severity: 'error',
      from: { path: `${src}/images/` },
      to: { path: `${src}/(?!(images|platform|domain)/)` },
    },
    {
      name: 'main-is-the-top',
      comment: 'main.ts is started, not imported.',
      severity: 'error',
      from: { path: `${src}/` },
      to: { path: `${src}/main\\.ts$` },
    },
    {
      name: 'cli-below-main-alone',
      comment: 'Only main.ts and the commands themselves use a command.',
      severity: 'error',
      from: { path: `${src}/`, pathNot: `${src}/(main\\.ts$|cli/)` },
      to: { path: `${src}/cli/` },
    },
    {
      name: 'app-below-cli-alone',
      comment: 'The assembled app, the worker and their dependencies are passed as arguments, never imported.',
      severity: 'error',
      from: { path: `${src}/`, pathNot: `${src}/(cli/|(app|worker)\\.ts$|console/console-app\\.ts$)` },
      to: { path: `${src}/(app|worker|dependencies)\\.ts$` },
    },
    {
      name: 'routes-below-app-alone',
      comment: 'Only app.ts mounts routes, and console-app.ts those that the console has, too.',
      severity: 'error',
      from: { path: `${src}/`, pathNot: `${src}/(app|console/console-app)\\.ts$` },
      to: { path: '-routes\\.ts$' },
    },
    {
      name: 'docs-site-knows-tables-only',
      comment:
        'What the documentation says comes from the tables of codes and states and from the OpenAPI document; it needs nothing that runs.',
      severity: 'error',
      from: { path: '^docs-site/src/' },
      to: {
        path: '^(service|proofs|tools|bench|testkit|sdk)/',
        pathNot: `${src}/(domain/|platform/(errors|html)\\.ts$|platform/http/openapi-components\\.ts$)`,
      },
    },
    {
      name: 'queries-below-routes',
      comment: 'A route calls an operation or, for a read without rules, a query of its feature. app.ts and http/ call no query.',
      severity: 'error',
      from: { path: `${src}/(app\\.ts$|platform/http/)` },
      to: { path: '-queries\\.ts$' },
    },
    {
      name: 'features-know-no-http',
      comment:
        'Operations and queries must not depend on HTTP. Files that do are named -routes, -route, -schemas, -json, -hook or -listener.',
      severity: 'error',
      from: { path: feature, pathNot: '-(routes?|schemas|json|hook|listener)\\.ts$' },
      to: { path: [`${src}/platform/http/`, '(^|/)node_modules/@?fastify/', '^(node:)?https?2?$'] },
    },
    {
      name: 'schemas-know-shapes-only',
      comment: 'A schema may import the shared schemas and the page sizes of http/, but nothing that handles requests.',
      severity: 'error',
      from: { path: '-schemas\\.ts$' },
      to: {
        path: [`${src}/platform/http/`, '(^|/)node_modules/@?fastify/'],
        pathNot: `${src}/platform/http/(schemas|paging)\\.ts$`,
      },
    },
    {
      name: 'queries-of-ones-own',
      comment: "A feature uses another's operations or schemas, never its queries. Commands may read by query.",
      severity: 'error',
      from: { path: `${src}/([^/]+/[^/]+)/`, pathNot: `${src}/cli/` },
      to: { path: `${src}/.+-queries\\.ts$`, pathNot: `${src}/$1/` },
    },
    {
      name: 'queries-stand-on-db',
      comment:
        'A query imports only the database, the types of its rows, queries of its feature, and columns and conditions that it shares with others.',
      severity: 'error',
      from: { path: `${src}/([^/]+/[^/]+)/[^/]+-queries\\.ts$` },
      to: {
        path: `${src}/`,
        pathNot: [
          `${src}/(platform/db/|domain/|platform/errors\\.ts$)`,
          '-(schemas|columns|conditions)\\.ts$',
          `${src}/$1/[^/]+-queries\\.ts$`,
        ],
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'leaves',
      comment: 'All of the service may import these files of the platform; they import only each other, bounded/ and domain/.',
      severity: 'error',
      from: { path: leaves },
      to: { path: `${src}/`, pathNot: [leaves, `${src}/(domain|platform/bounded)/`] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: {
      path: '^(tools/(node-runtime|image-encoder)|bench/peers|proofs/pages/lighthouse|proofs/deploy/kubernetes-types|proofs/matrix/postgres-versions)/',
    },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default'] },
    tsConfig: { fileName: 'tsconfig.json' },
  },
};
