import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['{service,sdk,docs-site}/test/**/*.test.ts', '{proofs,testkit}/**/*.test.ts'],
    globalSetup: ['service/test/global-setup.ts'],
    // A test without an assertion can't fail, and `.only` would hide the others.
    expect: { requireAssertions: true },
    allowOnly: false,
    // They wait for PostgreSQL, Redis and other processes more than they compute.
    maxWorkers: 2,
    testTimeout: 20_000,
    hookTimeout: 60_000,
  },
});
