#!/usr/bin/env node
// Plain JavaScript, so that an older Node.js can read it and hand over to the pinned one.
import module from 'node:module';
import { fileURLToPath } from 'node:url';

// Process 1 of a container ignores SIGTERM unless something listens. `serve` and `worker` listen only once they have started.
if (process.pid === 1) {
  for (const signal of ['SIGTERM', 'SIGINT']) {
    process.on(signal, (_, number) => process.listenerCount(signal) === 1 && process.exit(128 + number));
  }
}

// Before any module asks for it. Node.js would let FORCE_COLOR win, with a warning.
if (process.argv.includes('--no-color')) process.env.NO_COLOR = '1';
if (process.env.NO_COLOR) delete process.env.FORCE_COLOR;

const [major, minor] = process.versions.node.split('.').map(Number);
if (major > 24 || (major === 24 && minor >= 15)) {
  // Takes a third off the time that a command needs to start. Kept beside the packages: who can write there runs this code anyway.
  module.enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/compiled', import.meta.url)));
  await import('../src/main.ts');
} else {
  const runtime = await import('node-runtime/run.mjs').catch(() => undefined);
  if (!runtime) {
    console.error(`Homeward needs Node.js 24.15 or newer; this is ${process.version}.`);
    process.exit(1);
  }
  runtime.runOnPinnedNode(fileURLToPath(import.meta.url), process.argv.slice(2));
}
