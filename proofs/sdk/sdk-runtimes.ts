// The runtimes of the SDK in a proof: a Node.js process, and a page of a partner's site in a browser.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { createStore } from '../../sdk/src/index.ts';
import { launchBrowser } from '../../testkit/browser.ts';
import { serveLocally } from '../../testkit/local-server.ts';
import { speedUpClock, type Target } from './sdk-scenarios.ts';

type Scenario<Argument, Result> = (create: typeof createStore, argument: Argument) => Promise<Result>;

export interface Runtime {
  readonly name: string;
  run<Argument extends Target, Result>(scenario: Scenario<Argument, Result>, argument: Argument, clockRate?: number): Promise<Result>;
}

const inNode = fileURLToPath(new URL('sdk-in-node.ts', import.meta.url));

/** `module` is the path of the built SDK. */
export function nodeRuntime(module: string): Runtime {
  return {
    name: 'Node.js',
    async run(scenario, argument, clockRate = 1) {
      const args = [inNode, module, scenario.name, JSON.stringify(argument), String(clockRate)];
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
      child.channel?.unref();
      let output = '';
      child.stdout?.setEncoding('utf8').on('data', (text: string) => (output += text));
      const [status] = await once(child, 'close');
      if (status !== 0) throw new Error(`${scenario.name} ended with status ${status}`);
      return JSON.parse(output);
    },
  };
}

/** A page from another origin than the store's, as a partner's site would be: its requests to the store are cross-origin. */
export async function openBrowserRuntime(module: string): Promise<Runtime & AsyncDisposable> {
  await using resources = new AsyncDisposableStack();
  const { origin } = resources.use(
    await serveLocally(({ url }, response) => {
      if (url === '/sdk.js') response.setHeader('content-type', 'text/javascript').end(readFileSync(module));
      else response.setHeader('content-type', 'text/html').end('<!doctype html><title>A partner</title>');
    }),
  );
  const browser = resources.use(await launchBrowser());
  const opened = resources.move();
  return {
    name: 'Chromium',
    async run(scenario, argument, clockRate = 1) {
      const context = await browser.newContext();
      try {
        const page = await context.newPage();
        await page.goto(origin);
        if (clockRate !== 1) await page.evaluate(`(${speedUpClock})(${clockRate})`);
        return await page.evaluate(`import('/sdk.js').then(({ createStore }) => (${scenario})(createStore, ${JSON.stringify(argument)}))`);
      } finally {
        await context.close();
      }
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
