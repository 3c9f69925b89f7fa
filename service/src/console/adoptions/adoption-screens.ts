import type { Screens } from '../screens/screens.ts';
import type { AdoptionParts } from './adoption-parts.ts';
import { addApplicationList } from './application-list.ts';
import { addApplicationPage } from './application-page.ts';
import { addBulkEnds } from './bulk-ends.ts';
import { addComparison } from './comparison.ts';
import { addDecisions } from './decisions.ts';
import { addDesk } from './desk.ts';
import { addOrderList } from './order-list.ts';
import { addOrderPage } from './order-page.ts';

/** Choosing adopters and handing animals over. */
export function addAdoptions(screens: Screens, parts: AdoptionParts): void {
  addApplicationList(screens, parts);
  addDesk(screens, parts);
  addBulkEnds(screens, parts);
  const forms = addApplicationPage(screens, parts);
  addDecisions(screens, parts);
  addComparison(screens, parts, forms);
  addOrderList(screens, parts);
  addOrderPage(screens, parts);
}
