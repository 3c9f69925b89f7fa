// Paging for the three peers: the cursor and the link to the next page.

export const statuses = ['available', 'pending', 'sold'];
export const limitDefault = 20;
export const limitMax = 100;

/** The id after which a page begins, which is the first part of Homeward's cursors. Undefined if it is not a cursor. */
export function readCursor(cursor) {
  if (cursor === undefined) return 0;
  const id = Number.parseInt(Buffer.from(cursor, 'base64url').toString('latin1'), 10);
  return Number.isSafeInteger(id) ? id : undefined;
}

/** If there is one row more than the page has, another page follows; `link` is undefined on the last page. */
export function toPage(rows, { limit, status, categoryId }) {
  if (rows.length <= limit) return { page: rows, link: undefined };
  const page = rows.slice(0, limit);
  const query = new URLSearchParams({ limit: String(limit) });
  if (status !== undefined) query.set('status', status);
  if (categoryId !== undefined) query.set('categoryId', String(categoryId));
  query.set('cursor', Buffer.from(String(page.at(-1).id)).toString('base64url'));
  return { page, link: `</v1/pets?${query}>; rel="next"` };
}
