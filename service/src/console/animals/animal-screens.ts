import type { Screens } from '../screens/screens.ts';
import { addAnimalHistory } from './animal-history.ts';
import { addAnimalHold } from './animal-hold.ts';
import { addAnimalLeaving } from './animal-leaving.ts';
import { addAnimalList } from './animal-list.ts';
import { addAnimalName } from './animal-name.ts';
import { addAnimalPage } from './animal-page.ts';
import type { AnimalParts } from './animal-parts.ts';
import { addAnimalProfile } from './animal-profile.ts';
import { addKennelCard } from './kennel-card.ts';
import { addLeftList } from './left-list.ts';

/** The animals of a shelter, or of the store. What a role may not do is not offered; the operations decide. */
export function addAnimals(screens: Screens, parts: AnimalParts): void {
  addAnimalList(screens, parts);
  addLeftList(screens, parts);
  addAnimalPage(screens, parts);
  addAnimalProfile(screens, parts);
  addAnimalName(screens, parts);
  addAnimalHold(screens, parts);
  addAnimalLeaving(screens, parts);
  addAnimalHistory(screens, parts);
  addKennelCard(screens, parts);
}
