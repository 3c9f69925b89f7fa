import type { Db } from './handles.ts';

/** Runs a statement that is not prepared, and returns its rows. Each value in its text becomes a parameter. */
export const rowsOf =
  <Row extends object>(db: Db) =>
  async (texts: TemplateStringsArray, ...values: unknown[]): Promise<Row[]> => {
    const { rows } = await db.query<Row>({ text: texts.reduce((before, after, i) => `${before}$${i}${after}`), values });
    return rows;
  };

/** The first row, of a statement that always returns one. */
export const rowOf =
  <Row extends object>(db: Db) =>
  async (texts: TemplateStringsArray, ...values: unknown[]): Promise<Row> => {
    const [row] = await rowsOf<Row>(db)(texts, ...values);
    if (!row) throw new Error('a statement that returns one row returned none');
    return row;
  };
