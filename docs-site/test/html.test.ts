import { describe, expect, test } from 'vitest';
import { Html, html } from '../src/html.ts';

describe('html', () => {
  test('escapes every value, in text and in attributes', () => {
    expect(html`<p title="${'"a" & \'b\''}">${'<script>'}</p>`.text).toBe('<p title="&#34;a&#34; &#38; &#39;b&#39;">&#60;script&#62;</p>');
  });

  test('does not escape HTML again', () => {
    expect(html`<p>${html`<b>${'&'}</b>`}${new Html('<br>')}</p>`.text).toBe('<p><b>&#38;</b><br></p>');
  });

  test('joins lists, writes 0, and omits undefined and false', () => {
    expect(html`${['<', html`<br>`, [1, 0]]}${undefined}${false}`.text).toBe('&#60;<br>10');
  });
});
