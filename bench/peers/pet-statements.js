// Homeward's own statements, for the peers that write SQL by hand.
import pg from 'pg';

// Ids stay below 2^53.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

const columns = 'id, name, category_id as "categoryId", status';

/** One page for the given filters; prepared once for each combination of them. */
export function selectPets({ status, categoryId, afterId, limit }) {
  const values = [afterId, limit + 1];
  const filters = [
    ['category_id', categoryId],
    ['status', status],
  ].flatMap(([column, value]) => (value === undefined ? [] : [{ column, parameter: `$${values.push(value)}` }]));
  const select = `select ${columns} from pets where removed_at is null and`;
  if (filters.length === 0) return { name: 'pets', text: `${select} id > $1 order by id limit $2`, values };
  const named = filters.map(({ column }) => column).join(', ');
  const given = filters.map(({ parameter }) => parameter).join(', ');
  return {
    name: `pets-${named}`,
    text: `${select} (${named}, id) > (${given}, $1) and (${named}) <= (${given}) order by ${named}, id limit $2`,
    values,
  };
}

/** Inserts the animal and its first row of history, if its category exists. */
export function insertPet({ name, categoryId, status }, { clientId, keyId }) {
  return {
    name: 'insert-pet',
    text: `with pet as (
        insert into pets (name, category_id, status) select $1::text, id, $3::pet_status from categories where id = $2 returning ${columns}),
      added as (insert into history (pet_id, client_id, key_id, to_status, why) select id, $4, $5, status, 'added' from pet)
      select * from pet`,
    values: [name, categoryId, status, clientId, keyId],
  };
}
