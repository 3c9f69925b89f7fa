// A small server: in development with Vite's middleware, in production with what `npm run build` has written. It is JavaScript, so
// that any Node.js runs it as it is.
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import sirv from 'sirv';

/**
 * @typedef {typeof import('./src/render.ts')} Pages
 *
 * @typedef {object} Site
 * @property {(request: import('node:http').IncomingMessage, response: import('node:http').ServerResponse, next: () => void) => void} sendFile
 *   Sends a file if there is one; otherwise calls `next`.
 * @property {(path: string) => Promise<string>} template The page with a place for its content.
 * @property {Pages['render']} render
 */

const fileOf = (/** @type {string} */ name) => new URL(name, import.meta.url);
if (existsSync(fileOf('.env'))) process.loadEnvFile(fileOf('.env'));
const { NODE_ENV, PORT = '3000', HOST = '127.0.0.1' } = process.env;
const site = NODE_ENV === 'production' ? await builtSite() : await developmentSite();

const server = createServer((request, response) => site.sendFile(request, response, () => void respond(request, response)));
server.listen(Number(PORT), HOST, () => console.log(`Open http://${HOST}:${PORT}`));

/** @type {import('node:http').RequestListener} */
async function respond(request, response) {
  try {
    const url = new URL(request.url ?? '/', 'http://site');
    const [template, { status, html }] = await Promise.all([site.template(url.pathname), site.render(url)]);
    response.writeHead(status, { 'content-type': 'text/html; charset=utf-8' });
    // A function: a "$&" in an animal's name must stay as it is.
    response.end(template.replace('<!--page-->', () => html));
  } catch (error) {
    console.error(error);
    response.writeHead(503, { 'content-type': 'text/plain; charset=utf-8' }).end('Please come back in a minute.');
  }
}

/** @returns {Promise<Site>} */
async function builtSite() {
  const html = readFileSync(fileOf('dist/client/index.html'), 'utf8');
  const { render } = /** @type {Pages} */ (await import(fileOf('dist/server/render.js').href));
  // Without its index.html, which is only the template.
  const sendFile = sirv(fileOf('dist/client').pathname, { extensions: [], ignores: ['/'] });
  return { sendFile, template: async () => html, render };
}

/** @returns {Promise<Site>} */
async function developmentSite() {
  const { createServer: createVite } = await import('vite');
  const vite = await createVite({ server: { middlewareMode: true }, appType: 'custom' });
  return {
    sendFile: vite.middlewares,
    template: (path) => vite.transformIndexHtml(path, readFileSync(fileOf('index.html'), 'utf8')),
    render: async (url) => /** @type {Pages} */ (await vite.ssrLoadModule('/src/render.ts')).render(url),
  };
}
