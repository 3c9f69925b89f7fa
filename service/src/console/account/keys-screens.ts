import { type Html, html } from '../../platform/html.ts';
import { icon } from '../frame/elements.ts';
import type { Screens } from '../screens/screens.ts';

/** The keys that a script of every page knows. */
const keys: ReadonlyArray<readonly [key: string, does: string]> = [
  ['/', 'Search on this page'],
  ['n', 'Add something new'],
  ['j', 'To the next row'],
  ['k', 'To the row before'],
  ['Enter', 'Open the row'],
  ['?', 'Show these keys'],
  ['Esc', 'Close what is open'],
];

/** How to work by keyboard. The script shows the same over any page. */
export function addKeys(screens: Screens): void {
  screens.page({
    path: '/keys',
    needs: 'a person',
    show: () => ({
      title: 'Keys of the keyboard',
      main: html`<a class="crumb" href="/me">${icon('back')}You</a>
<h1>Keys of the keyboard</h1>
<section class="card" data-keys>
<p>Everything can be reached with Tab and Enter. These keys are faster, while you are not typing in a field.</p>
<dl class="facts">${keys.map(rowOf)}</dl>
<div data-keys-setting hidden>
<label class="choice">
<input type="checkbox">
<span>
<span>Single keys are on in this browser</span>
<span class="soft small">Turn them off if you speak to your computer, or press keys by mistake.</span>
</span>
</label>
</div>
<noscript><p class="soft">They need JavaScript, which is off in this browser.</p></noscript>
</section>`,
    }),
  });
}

const rowOf = ([key, does]: readonly [string, string]): Html => html`<dt><kbd>${key}</kbd></dt><dd>${does}</dd>`;
