import { addAccount } from './account/account-screens.ts';
import { addKeys } from './account/keys-screens.ts';
import { addAdopterSearch } from './adoptions/adopter-search.ts';
import type { AdoptionParts } from './adoptions/adoption-parts.ts';
import { addApplicationList } from './adoptions/application-list.ts';
import { addApplicationPage } from './adoptions/application-page.ts';
import { addBulkEnds } from './adoptions/bulk-ends.ts';
import { addComparison } from './adoptions/comparison.ts';
import { addDecisions } from './adoptions/decisions.ts';
import { addDesk } from './adoptions/desk.ts';
import { addOrderList } from './adoptions/order-list.ts';
import { addOrderPage } from './adoptions/order-page.ts';
import { addAnimalHistory } from './animals/animal-history.ts';
import { addAnimalHold } from './animals/animal-hold.ts';
import { addAnimalLeaving, addLeftList } from './animals/animal-leaving.ts';
import { addAnimalList } from './animals/animal-list.ts';
import { addAnimalLitter } from './animals/animal-litter.ts';
import { addAnimalName } from './animals/animal-name.ts';
import { addAnimalPage } from './animals/animal-page.ts';
import { addAnimalPlace } from './animals/animal-place.ts';
import { addAnimalProfile } from './animals/animal-profile.ts';
import { addKennelCard } from './animals/kennel-card.ts';
import type { AnimalParts } from './animals/one-animal.ts';
import { addPeople } from './people/people-screens.ts';
import { addPerson } from './people/person-page.ts';
import { addNewPhotos } from './photos/new-photos.ts';
import { addPhotos } from './photos/photo-screens.ts';
import { Screens } from './screens/screens.ts';
import { addAdopterData } from './shelters/adopter-data.ts';
import { addShelterForms } from './shelters/shelter-contact.ts';
import { addShelterHours } from './shelters/shelter-hours.ts';
import { addShelterPage } from './shelters/shelter-page.ts';
import { addShelterQuestions } from './shelters/shelter-questions.ts';
import { addShelterWords } from './shelters/shelter-words.ts';
import { addSiteSettings } from './shelters/site-settings.ts';
import { addToday } from './today/today-screens.ts';
import { addUndo } from './undo/undo-screens.ts';

export type ScreenParts = AdoptionParts &
  AnimalParts &
  Parameters<typeof addPhotos>[1] &
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
  addNewPhotos(screens, parts);
  addShelters(screens, parts);
  addPeople(screens, parts);
  addPerson(screens, parts);
  addAccount(screens, parts);
  addKeys(screens);
  addUndo(screens, parts);
  return screens;
}

/** Choosing adopters and handing animals over. */
function addAdoptions(screens: Screens, parts: AdoptionParts): void {
  addApplicationList(screens, parts);
  addAdopterSearch(screens, parts);
  addDesk(screens, parts);
  addBulkEnds(screens, parts);
  const forms = addApplicationPage(screens, parts);
  addDecisions(screens, parts);
  addComparison(screens, parts, forms);
  addOrderList(screens, parts);
  addOrderPage(screens, parts);
}

/** What shelters say, ask and do by themselves. */
function addShelters(screens: Screens, parts: Parameters<typeof addShelterHours>[1] & Parameters<typeof addAdopterData>[1]): void {
  addShelterPage(screens, parts);
  addShelterForms(screens, parts);
  addShelterHours(screens, parts);
  addShelterQuestions(screens, parts);
  addShelterWords(screens, parts);
  addAdopterData(screens, parts);
  addSiteSettings(screens, parts);
}

/** The animals of a shelter, or of the store. What a role may not do is not offered; the operations decide. */
function addAnimals(screens: Screens, parts: AnimalParts): void {
  addAnimalList(screens, parts);
  addLeftList(screens, parts);
  addAnimalLitter(screens, parts);
  addAnimalPage(screens, parts);
  addAnimalProfile(screens, parts);
  addAnimalName(screens, parts);
  addAnimalHold(screens, parts);
  addAnimalLeaving(screens, parts);
  addAnimalPlace(screens, parts);
  addAnimalHistory(screens, parts);
  addKennelCard(screens, parts);
}
