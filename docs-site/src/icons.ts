import { Html, html } from '../../service/src/platform/html.ts';

/** Line drawings of 24 by 24, in the colour of the text around them. */
const drawings = {
  search: '<circle cx="10.5" cy="10.5" r="6.5"/><path d="m20 20-4.6-4.6"/>',
  copy: '<rect x="8.5" y="8.5" width="11.5" height="11.5" rx="2.5"/><path d="M15.5 8.5V6.5a2.5 2.5 0 0 0-2.5-2.5H6.5A2.5 2.5 0 0 0 4 6.5V13a2.5 2.5 0 0 0 2.5 2.5h2"/>',
  check: '<path d="m4.5 12.5 5 5 10-11"/>',
  menu: '<path d="M4 7h16M4 12h16M4 17h16"/>',
  system: '<rect x="3" y="4.5" width="18" height="12" rx="2"/><path d="M12 16.5V20m-4 0h8"/>',
  light:
    '<circle cx="12" cy="12" r="4"/><path d="M12 2.5v2m0 15v2m9.5-9.5h-2m-15 0h-2m16.2-6.7-1.4 1.4M6.7 17.3l-1.4 1.4m13.4 0-1.4-1.4M6.7 6.7 5.3 5.3"/>',
  dark: '<path d="M20 14.2A8.5 8.5 0 0 1 9.8 4 8.5 8.5 0 1 0 20 14.2z"/>',
  file: '<path d="M13.5 3H7a2 2 0 0 0-2 2v14a2 2 0 0 0 2 2h10a2 2 0 0 0 2-2V8.5z"/><path d="M13.5 3v5.5H19M8.5 13h7m-7 4h5"/>',
  start: '<path d="m5 4 14 8-14 8z"/>',
  box: '<path d="m12 3 8 4.5v9L12 21l-8-4.5v-9z"/><path d="m4.2 7.7 7.8 4.3 7.8-4.3M12 12v8.7"/>',
  pages: '<rect x="4" y="3.5" width="12" height="15" rx="2"/><path d="M8 21h10a2 2 0 0 0 2-2V8M7.5 8h5m-5 4h5"/>',
  gauge: '<path d="M4.5 18a9 9 0 1 1 15 0"/><path d="m12 14 4-5"/><circle cx="12" cy="14.5" r="1.2"/>',
  heart: '<path d="M12 20.5 4.6 13a4.9 4.9 0 0 1 6.9-6.9l.5.5.5-.5a4.9 4.9 0 0 1 6.9 6.9z"/>',
  home: '<path d="m3.5 11 8.5-7.5L20.5 11"/><path d="M6 9.5V20h12V9.5M10 20v-5.5h4V20"/>',
  people:
    '<circle cx="9" cy="8" r="3.5"/><path d="M3 20c0-3.9 2.7-6.5 6-6.5s6 2.6 6 6.5"/><path d="M15.5 4.8a3.5 3.5 0 0 1 0 6.4M17.5 14c2.1.9 3.5 3.1 3.5 6"/>',
  paw: '<circle cx="6" cy="11" r="1.8"/><circle cx="10" cy="6.5" r="1.8"/><circle cx="15" cy="6.5" r="1.8"/><circle cx="18.5" cy="11" r="1.8"/><path d="M12.3 11.5c-2.6 0-5.3 3-5.3 5.4 0 1.5 1.1 2.4 2.4 2.4 1 0 1.9-.5 2.9-.5s1.8.5 2.9.5c1.3 0 2.3-.9 2.3-2.4 0-2.4-2.6-5.4-5.2-5.4z"/>',
  place: '<path d="M12 21c4.5-5 7-8.6 7-11.5a7 7 0 0 0-14 0C5 12.4 7.5 16 12 21z"/><circle cx="12" cy="9.5" r="2.5"/>',
  feed: '<path d="M5 12a7 7 0 0 1 7 7M5 5a14 14 0 0 1 14 14"/><circle cx="6" cy="18" r="1.5"/>',
  send: '<path d="M21 3 10 14M21 3l-6.5 18-4.5-7-7-4.5z"/>',
  shield: '<path d="M12 3 5 5.5v6c0 4.5 3 7.5 7 9.5 4-2 7-5 7-9.5v-6z"/><path d="m9 12 2.2 2.2L15.3 10"/>',
  flask: '<path d="M9.5 3h5M10.5 3v6L5 18.5A1.7 1.7 0 0 0 6.5 21h11a1.7 1.7 0 0 0 1.5-2.5L13.5 9V3M7.5 15h9"/>',
  photo: '<rect x="3.5" y="5" width="17" height="14" rx="2"/><circle cx="9" cy="10" r="1.6"/><path d="m4 17 5-4 3.5 2.5L16 12l4.5 4"/>',
  book: '<path d="M4 5.5A2.5 2.5 0 0 1 6.5 3H20v15H6.5A2.5 2.5 0 0 0 4 20.5z"/><path d="M4 20.5A2.5 2.5 0 0 0 6.5 21H20v-3"/>',
  warning: '<path d="M12 4 2.8 20h18.4z"/><path d="M12 10v4.5m0 2.7v.3"/>',
  clock: '<circle cx="12" cy="12" r="8.5"/><path d="M12 7v5l3.5 2"/>',
} as const;

export type IconName = keyof typeof drawings;

/** An icon says nothing that the text beside it doesn't say. */
export const icon = (name: IconName): Html =>
  html`<svg class="icon icon-${name}" viewBox="0 0 24 24" width="20" height="20" aria-hidden="true">${new Html(drawings[name])}</svg>`;
