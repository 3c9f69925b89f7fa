import { type Html, html } from './html.ts';
import { layout } from './layout.ts';

interface Confirmation {
  readonly title: string;
  readonly text: string;
  readonly yes: string;
  /** Where the form is sent, and where the visitor comes from. */
  readonly address: string;
  readonly back: string;
}

/** Asks before something that can't be taken back. */
export const confirmPage = ({ title, text, yes, address, back }: Confirmation): Html =>
  layout({
    title,
    main: html`<div class="message"><h1>${title}</h1><p>${text}</p>
<form class="pager" method="post" action="${address}"><button class="button" type="submit">${yes}</button><a class="button quiet" href="${back}">No, go back</a></form></div>`,
  });
