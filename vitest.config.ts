import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files whose tests start programs take longest, whatever their size: begun last, they would keep one worker busy alone. */
class ProgramsFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const startsPrograms = ({ moduleId }: TestSpecification) => /\/test\/(cli|docs)\//.test(moduleId);
    const sorted = await super.sort(files);
    return [...sorted.filter(startsPrograms), ...sorted.filter((file) => !startsPrograms(file))];
  }
}

export default defineConfig({
  test: {
    include: ['{service,sdk,docs-site}/test/**/*.test.ts', '{proofs,testkit,bench}/**/*.test.ts'],
    globalSetup: ['service/test/global-setup.ts'],
    setupFiles: ['service/test/patience.ts'],
    // A test without an assertion can't fail, and `.only` would hide the others.
    expect: { requireAssertions: true, poll: { timeout: 15_000, interval: 20 } },
    allowOnly: false,
    // Files share the modules of their worker: to load them again for each file took a fifth of the time.
    isolate: false,
    // Node.js runs the sources as they are, as it does for the service: transforming them first took a tenth of the time. Nothing is mocked.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // They wait for PostgreSQL, Redis and other processes more than they compute.
    maxWorkers: 3,
    sequence: { sequencer: ProgramsFirst },
    // A limit for what hangs. The cores may be used by others too.
    testTimeout: 120_000,
    hookTimeout: 240_000,
  },
});
