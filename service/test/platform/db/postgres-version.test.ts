import { expect, test } from 'vitest';
import { explainFailure } from '../../../src/cli/terminal/failures.ts';
import { requireSupported } from '../../../src/platform/db/postgres-servers.ts';

test.each([150_000, 160_003, 180_000])('PostgreSQL %d can be used', (number) => {
  expect(() => requireSupported(number, '')).not.toThrow();
});

test('an older one is refused, and the message says what to do', () => {
  const refused = (): unknown => {
    try {
      return requireSupported(140_019, '14.19');
    } catch (error) {
      return error;
    }
  };
  const settings = { databaseUrl: 'postgres://db.example.org/homeward', redisUrl: 'redis://localhost', host: '127.0.0.1' };
  expect(explainFailure(refused(), settings)).toBe(
    'PostgreSQL at db.example.org:5432, database "homeward": it is version 14.19. Upgrade PostgreSQL to 15 or newer.',
  );
});
