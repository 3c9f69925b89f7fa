import { describe, expect, test } from 'vitest';
import { Html, html } from '../../src/platform/html.ts';

describe('html', () => {
  test('escapes every value, in text and in attributes', () => {
    expect(html`<p title="${'"a" & \'b\' `c`'}">${'<script>'}</p>`.text).toBe(
      '<p title="&#34;a&#34; &#38; &#39;b&#39; &#96;c&#96;">&#60;script&#62;</p>',
    );
  });

  test('does not escape HTML again, and takes no object for it that looks like it', () => {
    expect(html`<p>${html`<b>${'&'}</b>`}${new Html('<br>')}</p>`.text).toBe('<p><b>&#38;</b><br></p>');
    expect(() => html`${JSON.parse('{"text":"<script>"}') as string}`).toThrow(TypeError);
  });

  test('joins lists, writes 0 and integers beyond 2^53, and omits undefined and false', () => {
    expect(html`${['<', html`<br>`, [1, 0]]}${2n ** 60n}${undefined}${false}`.text).toBe('&#60;<br>101152921504606846976');
  });
});
