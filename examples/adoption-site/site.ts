// Starts the site: HOMEWARD_URL=… HOMEWARD_KEY=… node site.ts
import { startSite } from './start-site.ts';
import { owner } from './words.ts';

const { HOMEWARD_URL: url, HOMEWARD_KEY: key, PORT = '3000', HOST = '127.0.0.1', SITE_URL: publicUrl } = process.env;
if (!url || !key) {
  console.error("Set HOMEWARD_URL to the store's address and HOMEWARD_KEY to your API key.");
  process.exit(2);
}

const site = await startSite({ url, key, port: Number(PORT), host: HOST, publicUrl });
console.log(`Open ${site.url}`);
if (owner === undefined) console.log('Before the public uses it, say who you are: `owner` in words.ts.');
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void site.close());
