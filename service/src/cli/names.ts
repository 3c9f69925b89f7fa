/** `Biscuit (12)`: people know the name, commands take the id. The id alone if there is no name. */
export const named = (name: string | undefined, id: bigint): string => (name === undefined ? String(id) : `${name} (${id})`);
