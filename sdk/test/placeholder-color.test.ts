import { expect, test } from 'vitest';
import { placeholderColor } from '../src/index.ts';

test('placeholderColor is the average colour of the photo', () => {
  // Of a photo that is "peru" all over, which is #cd853f. A ThumbHash has 6 bits for each channel.
  const color = placeholderColor('YZsCBYCHh4h3d4ePd4h3d4iHj3f3') ?? '';
  const [red = 0, green = 0, blue = 0] = (color.match(/[\da-f]{2}/g) ?? []).map((one) => Number.parseInt(one, 16));
  expect(Math.abs(red - 0xcd)).toBeLessThan(6);
  expect(Math.abs(green - 0x85)).toBeLessThan(6);
  expect(Math.abs(blue - 0x3f)).toBeLessThan(6);
});

test.each([null, '', 'abc', '"); color: red'])('placeholderColor of %j is undefined: no text gets into a style', (placeholder) => {
  expect(placeholderColor(placeholder)).toBeUndefined();
});

test.each(['////', 'AAAA', '+/9z'])('placeholderColor of %s is a colour', (placeholder) => {
  expect(placeholderColor(placeholder)).toMatch(/^#[\da-f]{6}$/);
});
