// Benchmarks: npm run bench -- [SCENARIO…] compares Homeward with others, npm run bench -- size | listings | listings-cached | listings-fresh | hostile-names | writes | memory | cost | connections | telemetry | sweeps | indexes | applications | console | capacity measures it alone; list --mix under a mix of quiet and busy clients
const parts: Record<string, () => Promise<unknown>> = {
  size: () => import('./size.ts'),
  listings: () => import('./listings.ts'),
  'listings-cached': () => import('./listings-cached.ts'),
  'listings-fresh': () => import('./listings-fresh.ts'),
  'hostile-names': () => import('./hostile-names.ts'),
  writes: () => import('./writes.ts'),
  memory: () => import('./memory.ts'),
  cost: () => import('./cost.ts'),
  connections: () => import('./connections.ts'),
  telemetry: () => import('./telemetry.ts'),
  sweeps: () => import('./sweeps.ts'),
  indexes: () => import('./indexes.ts'),
  applications: () => import('./applications.ts'),
  console: () => import('./console.ts'),
  capacity: () => import('./capacity.ts'),
};

const isMix = process.argv[2] === 'list' && process.argv.includes('--mix');
const part = isMix ? () => import('./list-mix.ts') : parts[process.argv[2] ?? ''];
if (part) process.argv.splice(2, 1);
await (part ?? (() => import('./side-by-side.ts')))();
