// Bounds of plans as documents write them.
import { planBounds, planNames } from '../../src/access/rate-limit/plans.ts';

export const enterprise = planBounds.enterprise;

/** Of the other plans. */
export const byPlan = (
  bound: 'openOrders' | 'openApplications' | 'newCategoriesPerDay' | 'photoMegabytesPerDay' | 'photoStorageGigabytes',
) => planNames.filter((plan) => plan !== 'enterprise').map((plan) => planBounds[plan][bound].toLocaleString('en'));
