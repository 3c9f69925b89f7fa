import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['service/test/**/*.test.ts', 'proofs/**/*.test.ts'],
    globalSetup: ['service/test/global-setup.ts'],
    // A test without an assertion can't fail, and `.only` would hide the others.
    expect: { requireAssertions: true },
    allowOnly: false,
    testTimeout: 20_000,
    hookTimeout: 60_000,
  },
});
