// The animals of a shelter, for development: the same on every machine.

export interface DevAnimal {
  readonly name: string;
  readonly categoryId: number;
  readonly status: 'available' | 'pending' | 'sold';
}

// biome-ignore format: one row for each category
/** How many animals each seeded category gets, and their names. */
const litters: ReadonlyArray<{ categoryId: number; count: number; names: string }> = [
  { categoryId: 1, count: 96, names: 'Biscuit Luna Max Bella Charlie Daisy Cooper Rosie Rocky Molly Bear Sadie Duke Lola Tucker Maggie Moose Ruby Winston Stella Otis Penny Hank Nala Bruno Willow Murphy Hazel Gus Pepper Ziggy Roxy Jasper Olive Rusty Gracie Diesel Honey Scout Juno Ranger Ellie Boomer Mabel Chief Piper Ace Zoe' },
  { categoryId: 2, count: 92, names: 'Milo Cleo Oliver Simba Nova Felix Lily Leo Misty Salem Tigger Callie Smokey Pumpkin Jasper Minnie Oreo Princess Loki Mittens Shadow Phoebe Binx Marble Ginger Boots Sphinx Kiki Mochi Tabitha Whiskers Sable Domino Fig Pickles Ash Saffron Toulouse Maple Socks' },
  { categoryId: 3, count: 26, names: 'Clover Thumper Hazel Cinnabun Flopsy Nutmeg Bramble Snowball Parsley Juniper Dandelion Basil Cotton' },
  { categoryId: 4, count: 22, names: 'Kiwi Sunny Mango Skye Pip Echo Rio Tweety Blue Coco Papaya Sorrel' },
  { categoryId: 5, count: 24, names: 'Peanut Nibbles Hammy Gizmo Chestnut Squeaky Truffle Waffles Dot Popcorn Remy Pebble' },
  { categoryId: 6, count: 12, names: 'Spike Rex Monty Iggy Sheldon Draco Jade Slither' },
  { categoryId: 7, count: 8, names: 'Bubbles Neptune Coral Finn Goldie Marlin' },
  { categoryId: 8, count: 7, names: 'Comet Whisper Thunder Magnolia Copper Sierra' },
  { categoryId: 9, count: 9, names: 'Henrietta Wilbur Buttercup Clementine Billy Gertie Duchess' },
  { categoryId: 10, count: 4, names: 'Quill Bandit Twiggy Sonic' },
];

/** In mixed order, as if they had arrived one by one. Most are available. */
export function devAnimals(): DevAnimal[] {
  const random = mulberry32(2_026);
  const [first, ...others] = litters.flatMap(({ categoryId, count, names }) => {
    const pool = names.split(' ');
    return Array.from({ length: count }, (_, i) => ({ categoryId, name: pool[i % pool.length] ?? '' }));
  });
  const arrived = others.map((animal) => ({ animal, at: random() })).sort((a, b) => a.at - b.at);
  const animals = first ? [first, ...arrived.map(({ animal }) => animal)] : [];
  return animals.map((animal, i) => ({ ...animal, status: i === 0 ? 'available' : statusFor(random()) }));
}

const statusFor = (chance: number): DevAnimal['status'] => (chance < 0.7 ? 'available' : chance < 0.82 ? 'pending' : 'sold');

/** A small pseudo-random number generator: the same seed gives the same numbers. */
export function mulberry32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
