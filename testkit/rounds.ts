/**
 * How often a test repeats what is random: for every change often enough to find a planted fault, and more often at night, by
 * `npm run check -- --only long-tests`.
 */
export const roundsOf = (usual: number, atNight: number): number => (process.env['LONG_TESTS'] ? atNight : usual);
