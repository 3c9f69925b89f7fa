import type { PetListing } from '@homeward/sdk';
import { type Html, html } from './html.ts';

/** How to reach a shelter. */
export const shelterContact = ({ id, name, address, phone, email, website }: PetListing['shelter']): Html => html`
<address class="shelter"><strong>${name}</strong>
${address !== null && html`<a href="${mapOf(address)}" rel="noreferrer nofollow">${address}</a>`}
${phone !== null && html`<a href="tel:${phone.replaceAll(/[^\d+]/g, '')}">${phone}</a>`}
${email !== null && html`<a href="mailto:${email}">${email}</a>`}
${website !== null && isWebAddress(website) && html`<a href="${website}" rel="noopener nofollow">Website</a>`}
<a href="/?shelter=${id}">All animals of this shelter</a></address>`;

/** A search on a map. A page loads nothing of it. */
const mapOf = (address: string): string =>
  `https://www.openstreetmap.org/search?${new URLSearchParams({ query: address.replaceAll(/\s+/g, ' ') })}`;

/** An address with another scheme could run a script. */
export const isWebAddress = (address: string): boolean => /^https?:\/\//i.test(address);
