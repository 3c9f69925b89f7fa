// Builds what a store serves besides the API, the SDK and the documentation: npm run build
import { buildSdk, ensureSdk } from './sdk-build.ts';
import { buildSite, ensureSite } from './site-build.ts';

if (import.meta.main) {
  await buildSite();
  await buildSdk();
}

/** Builds what is missing or older than its sources. */
export async function ensureBuilt(): Promise<void> {
  await ensureSite();
  await ensureSdk();
}
