// The shelters of the development store. They are invented; the towns are not.
import type { NewShelter } from '../sdk/src/index.ts';

/** The first shelter is the store itself: what a key without a shelter adds is here until staff place it. */
export const devStore: NewShelter = {
  name: 'Homeward',
  description: 'The store itself. Animals that no shelter has taken yet are listed here.',
  email: 'hello@homeward.example',
  phone: '+353 20 910 0100',
  website: 'https://homeward.example/',
  timezone: 'Europe/Dublin',
};

/** How the postcodes of their towns begin. */
const routingKeys = ['D08', 'H91', 'T23', 'V94', 'R95', 'F91', 'F28', 'V92', 'X91', 'N37', 'V95', 'F92'] as const;

/** The last part of an address is the town. The numbers are reserved for fiction. */
export const devShelters: readonly NewShelter[] = [
  [
    'Liffey House Animal Rescue',
    'Old Distillery Yard 4, Dublin',
    53.35,
    -6.28,
    'Dogs and cats from the city, and a waiting room full of tea.',
  ],
  ['Claddagh Paws', '17 Fishmarket Row, Galway', 53.27, -9.05, 'A small house by the bay. The cats choose their visitors.'],
  ['Lee Valley Animal Home', 'Sunday Well Cottage, Cork', 51.9, -8.49, 'Sixty kennels, one very long field.'],
  ['Shannonside Shelter', '3 Boatyard Road, Limerick', 52.66, -8.63, 'Open every day but Monday. Bring boots.'],
  ['The Marble Yard', '28 Abbey Street, Kilkenny', 52.65, -7.25, 'Once a stonemason’s yard, now home to dogs who dig.'],
  ['Ben Bulben Rescue', 'Drumcliff Crossroads, Sligo', 54.27, -8.48, 'Hill walkers, all of them: the volunteers and the dogs.'],
  ['Quay Cottage Cats and Company', '9 Custom House Quay, Westport', 53.8, -9.53, 'Mostly cats. The company is two goats and a tortoise.'],
  ['Kingdom Animal Haven', 'Rock Street Mews, Tralee', 52.27, -9.7, 'Farm animals, horses, and anyone else who turns up at the gate.'],
  ['Suir Strays', '41 Barrack Hill, Waterford', 52.26, -7.11, 'Everything that the river towns have lost and not claimed.'],
  ['Lough Ree Rescue', 'Strand House, Athlone', 53.42, -7.94, 'In the middle of the country, so never very far.'],
  ['Burren Small Animals', 'Clare Road Stables, Ennis', 52.84, -8.98, 'Rabbits, birds and everyone who fits into a shoebox.'],
  ['Swilly View Shelter', '12 Port Road, Letterkenny', 54.95, -7.73, 'The northernmost sofa in the country, usually occupied.'],
].map(([name, address, latitude, longitude, description], index) => {
  const host = `${String(name)
    .toLowerCase()
    .replaceAll(/[^a-z]+/g, '-')}.example`;
  return {
    name: String(name),
    description: String(description),
    town: String(address).split(', ').at(-1) ?? null,
    postcode: `${routingKeys[index]} HW${10 + index}`,
    country: 'IE',
    email: `hello@${host}`,
    phone: `+353 20 910 ${String(101 + index).padStart(4, '0')}`,
    website: `https://${host}/`,
    address: String(address),
    latitude: Number(latitude),
    longitude: Number(longitude),
    timezone: 'Europe/Dublin',
  };
});
