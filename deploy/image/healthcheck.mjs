// The health check of the image: a container that serves must respond; any other is healthy as long as it runs.
import { readFileSync } from 'node:fs';

const timeoutMs = 2_000;
// Of process 1: tini -- homeward serve
const words = readFileSync('/proc/1/cmdline', 'utf8').split('\0');
if (words.includes('serve')) {
  const url = `http://127.0.0.1:${process.env.PORT || 8080}/livez`;
  const response = await fetch(url, { signal: AbortSignal.timeout(timeoutMs) }).catch(() => undefined);
  process.exitCode = response?.ok ? 0 : 1;
}
