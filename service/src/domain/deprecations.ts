/** A deprecated operation: its responses announce that in their headers, and it is removed at the sunset. */
export interface Deprecation {
  readonly since: Date;
  readonly sunset: Date;
  readonly notice: string;
  /** May contain one of the path's parameters, in braces. */
  readonly successor: string;
}

/** All deprecated operations, by method and path. */
export const deprecations = {
  /** Deprecated since release 1.0.0. The interface specifies the date of its removal. */
  'GET /v1/pets/{petId}': {
    since: new Date('2026-11-15T00:00:00Z'),
    sunset: new Date('2030-12-05T00:00:00Z'),
    notice: '/docs/deprecations',
    successor: '/v1/pets?id={petId}',
  },
} as const satisfies Record<string, Deprecation>;

/** Undefined if the operation is not deprecated in this release. */
export const deprecationOf = (operation: string): Deprecation | undefined =>
  (deprecations as Readonly<Record<string, Deprecation>>)[operation];
