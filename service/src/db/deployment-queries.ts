import type { Db } from './handles.ts';

/** Generated once, by the first migration. */
export async function getDeploymentId(db: Db): Promise<string> {
  const { rows } = await db.query<{ id: string }>({ text: 'select id from deployment' });
  const [row] = rows;
  if (!row) throw new Error('the table deployment is empty');
  return row.id;
}
