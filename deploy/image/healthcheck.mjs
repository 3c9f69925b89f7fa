// The health check of the image: a container that serves, or decodes images, must respond; any other is healthy as long as it runs.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';

const timeoutMs = 2_000;
// Of process 1: tini -- homeward serve
const words = readFileSync('/proc/1/cmdline', 'utf8').split('\0');
const port = words.includes('serve') ? process.env.PORT || 8080 : words.includes('console') && (process.env.HOMEWARD_CONSOLE_PORT || 8090);
if (port) {
  const url = `http://127.0.0.1:${port}/livez`;
  const response = await fetch(url, { signal: AbortSignal.timeout(timeoutMs) }).catch(() => undefined);
  process.exitCode = response?.ok ? 0 : 1;
}
if (words.includes('images')) {
  const connection = connect(process.env.HOMEWARD_IMAGES_SOCKET ?? '');
  // An image of no bytes: it responds that it is ready.
  connection.write(Buffer.alloc(4));
  const response = await once(connection, 'data', { signal: AbortSignal.timeout(timeoutMs) }).catch(() => ['']);
  connection.destroy();
  process.exitCode = String(response[0]).includes('"ready":true') ? 0 : 1;
}
