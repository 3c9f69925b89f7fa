import manifest from '../../package.json' with { type: 'json' };

export const { version } = manifest;

/** The commit that the program was built from. Undefined in a checkout: deploy/assemble writes it where an image or a package is built. */
export const commit = (manifest as { readonly gitHead?: string }).gitHead;

/** Such as "1.1.0 (abcdef0)". */
export const versionAndCommit = commit ? `${version} (${commit})` : version;
