import { type Html, html } from './html.ts';
import { layout } from './layout.ts';

export const messagePage = (title: string, text: string): Html =>
  layout({
    title,
    main: html`<div class="message"><h1>${title}</h1><p>${text}</p><p class="pager"><a class="button quiet" href="/">All animals</a></p></div>`,
  });
