import { type Config, ConfigError } from '../platform/config.ts';

const loopback = new Set(['localhost', '127.0.0.1', '::1']);

/** Where people reach the console, as links to it are written. */
export function consoleUrlOf({ consoleUrl, consoleHost, consolePort }: Config): string {
  if (consoleUrl !== '') return consoleUrl;
  if (loopback.has(consoleHost) && consolePort !== 0) return `http://localhost:${consolePort}`;
  throw new ConfigError('HOMEWARD_CONSOLE_URL must be set, such as https://console.example.org: people reach the console there.');
}
