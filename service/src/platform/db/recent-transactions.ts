/** SQL: the id of the running transaction, as it will be in `xmin` of the rows that it writes. */
export const runningTransaction = 'pg_current_xact_id()::xid::text';

/**
 * SQL: the transaction that wrote a row, or null if that was more than a minute ago. A minute is longer than a transaction and the use
 * of a cached page together, so what is older is in every page that is served.
 */
export const recentTransactionOf = (row: string, changedAt: string): string =>
  `case when ${row}.${changedAt} > now() - interval '1 minute' then ${row}.xmin::text end`;
