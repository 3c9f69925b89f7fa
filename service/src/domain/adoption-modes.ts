/** How the animals of a shelter are adopted. */
export const adoptionModes = {
  order: 'Partners order its animals: the first to ask reserves one.',
  application: 'Partners send it applications, of which its staff accept one. Only staff place orders.',
} as const satisfies Record<string, string>;

export type AdoptionMode = keyof typeof adoptionModes;

/** Where nothing else is said. */
export const adoptionDefault = 'order' satisfies AdoptionMode;
