/** The last release of CHANGELOG.md, and its commit: the proofs `upgrade` and `roll-back` come from it. */
export const releaseBefore = { version: '1.1.0', commit: 'be62516' };
