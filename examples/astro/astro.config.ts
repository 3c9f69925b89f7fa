import node from '@astrojs/node';
import { defineConfig, envField } from 'astro/config';

const secret = () => envField.string({ context: 'server', access: 'secret' });

export default defineConfig({
  output: 'server',
  adapter: node({ mode: 'standalone' }),
  // Read on the server when it runs. Astro doesn't let a secret into a page or into the build.
  env: { schema: { HOMEWARD_URL: secret(), HOMEWARD_KEY: secret() } },
});
