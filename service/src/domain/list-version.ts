/**
 * Says which cached lists a request may get. A number counts the changes of the catalogue that this process has read from Redis. A
 * string is a snapshot of PostgreSQL, for requests that are decided without Redis.
 */
export type ListVersion = number | string;
