// A small server: in development with Vite's middleware, in production with what `npm run build` has written.
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import sirv from 'sirv';
import type { Rendered } from './src/render.ts';

interface Site {
  /** Sends a file if there is one; otherwise calls `next`. */
  sendFile(request: IncomingMessage, response: ServerResponse, next: () => void): void;
  /** The page with a place for its content. */
  template(path: string): Promise<string>;
  render(url: URL): Promise<Rendered>;
}

const { NODE_ENV, PORT = '3000', HOST = '127.0.0.1' } = process.env;
const fileOf = (name: string) => new URL(name, import.meta.url);
const site = NODE_ENV === 'production' ? await builtSite() : await developmentSite();

const server = createServer((request, response) => site.sendFile(request, response, () => void respond(request, response)));
server.listen(Number(PORT), HOST, () => console.log(`Open http://${HOST}:${PORT}`));

async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
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

async function builtSite(): Promise<Site> {
  const html = readFileSync(fileOf('dist/client/index.html'), 'utf8');
  const { render } = (await import(fileOf('dist/server/render.js').href)) as Pick<Site, 'render'>;
  // Without its index.html, which is only the template.
  const sendFile = sirv(fileOf('dist/client').pathname, { extensions: [], ignores: ['/'] });
  return { sendFile, template: async () => html, render };
}

async function developmentSite(): Promise<Site> {
  const { createServer: createVite } = await import('vite');
  const vite = await createVite({ server: { middlewareMode: true }, appType: 'custom' });
  return {
    sendFile: vite.middlewares,
    template: (path) => vite.transformIndexHtml(path, readFileSync(fileOf('index.html'), 'utf8')),
    render: async (url) => ((await vite.ssrLoadModule('/src/render.ts')) as Pick<Site, 'render'>).render(url),
  };
}
