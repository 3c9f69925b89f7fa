import { addAccount } from './account/account-screens.ts';
import { addKeys } from './account/keys-screens.ts';
import { addAdoptions } from './adoptions/adoption-screens.ts';
import { addAnimals } from './animals/animal-screens.ts';
import { addPeople } from './people/people-screens.ts';
import { addPhotos } from './photos/photo-screens.ts';
import { Screens } from './screens/screens.ts';
import { addShelterWords } from './shelters/shelter-words.ts';
import { addToday } from './today/today-screens.ts';

export type ScreenParts = Parameters<typeof addAdoptions>[1] &
  Parameters<typeof addPhotos>[1] &
  Parameters<typeof addAnimals>[1] &
  Parameters<typeof addPeople>[1] &
  Parameters<typeof addShelterWords>[1] &
  Parameters<typeof addAccount>[1];

/** All that people see and do who are signed in. Nothing runs until a screen is asked for. */
export function consoleScreens(parts: ScreenParts): Screens {
  const screens = new Screens();
  addToday(screens, parts);
  addAdoptions(screens, parts);
  addAnimals(screens, parts);
  addPhotos(screens, parts);
  addShelterWords(screens, parts);
  addPeople(screens, parts);
  addAccount(screens, parts);
  addKeys(screens);
  return screens;
}
