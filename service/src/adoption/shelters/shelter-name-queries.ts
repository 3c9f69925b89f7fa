import type { Db } from '../../platform/db/handles.ts';

export async function selectShelterNames(db: Db, ids: readonly bigint[]): Promise<ReadonlyMap<bigint, string>> {
  const { rows } = await db.query<{ id: bigint; name: string }>({
    name: 'shelter-names',
    text: 'select id, name from shelters where id = any($1::bigint[])',
    values: [ids],
  });
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** Those with the text in their name, and the one with the number. The table is read whole: this is rarely asked. */
export async function selectSheltersCalled(
  db: Db,
  text: string,
  number: bigint | undefined,
  limit: number,
): Promise<Array<{ readonly id: bigint; readonly name: string; readonly isMeant: boolean }>> {
  const { rows } = await db.query<{ id: bigint; name: string; isMeant: boolean }>({
    name: 'shelters-called',
    text: `select id, name, lower(name) = lower($1) or id = coalesce($2, 0) as "isMeant" from shelters
      where id = $2 or strpos(lower(name), lower($1)) > 0 order by 3 desc, id limit $3`,
    values: [text, number ?? null, limit],
  });
  return rows;
}
