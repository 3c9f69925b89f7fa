import { type Html, html } from '../../platform/html.ts';
import type { PastAct } from '../../store/history/history-list.ts';
import type { StaffAnimal } from '../../store/listings/staff-list.ts';
import type { Visit } from '../screens/visit.ts';
import { actText } from './act-words.ts';

/** What was done with an animal, in words. An order is a link for those who may read it. */
export const timeline = (visit: Visit, { name }: Pick<StaffAnimal, 'name'>, acts: readonly PastAct[]): Html => html`<ol class="deeds">
${acts.map((act) => {
  const text = capital(actText(act, name, visit));
  const order = act.orderId;
  return html`<li><span>${text}${order !== null && visit.may('orders:read') && html` <a href="/orders/${order}">Order ${order}</a>`}</span><span class="soft small">${visit.times.at(act.at)}</span></li>
`;
})}</ol>`;

const capital = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
