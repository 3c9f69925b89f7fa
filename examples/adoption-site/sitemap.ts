// The addresses that search engines should visit (https://www.sitemaps.org/).
import type { Category, Int64 } from '@homeward/sdk';
import { addressOf } from './filter.ts';
import { Html, html } from './html.ts';

export function sitemap(categories: readonly Category[], animalIds: readonly Int64[], publicUrl: string): Html {
  const paths = [
    '/',
    ...categories.map(({ id }) => addressOf({ status: 'available', categoryId: id, goodWith: [] })),
    ...animalIds.map((id) => `/animals/${id}`),
  ];
  return html`<?xml version="1.0" encoding="utf-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
${paths.map((path) => html`<url><loc>${new URL(path, publicUrl).href}</loc></url>\n`)}</urlset>
`;
}

/** The pages of orders are private, and open streams are no pages. */
export const robots = (publicUrl: string): Html =>
  new Html(`User-agent: *\nDisallow: /adoptions/\nDisallow: /live\nSitemap: ${new URL('/sitemap.xml', publicUrl).href}\n`);
