// The drawings of the animals that `npm run dev` adds.
import sharp from 'sharp';
import { expect, test } from 'vitest';
import { devAnimals } from '../../../tools/dev-animals.ts';
import { drawingOf, lookOf } from '../../../tools/dev-looks.ts';

const animalsPerPage = 24;
const side = 32;
/** By how much two drawings must differ: the mean over their samples, of 255. The same cat with another collar differs by about 2. */
const differenceMin = 6;

/** The first pages of the list: available, the newest first, of as many as `npm run pictures` and `npm run dev` add. */
const shown = (count: number) =>
  devAnimals()
    .slice(0, count)
    .map((animal, index) => ({ ...animal, id: index + 1 }))
    .filter(({ status }) => status === 'available')
    .reverse()
    .slice(0, animalsPerPage * 2);

/** Without what is behind the animal, and small, so that what differs can be seen. */
async function samplesOf(animal: { readonly id: number; readonly categoryId: number }): Promise<Buffer> {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${side}" height="${side}" viewBox="0 0 120 124"><rect width="120" height="124" fill="#7fb0c0"/>${drawingOf(lookOf(animal))}</svg>`;
  return sharp(Buffer.from(svg)).removeAlpha().raw().toBuffer();
}

const difference = (one: Buffer, other: Buffer): number =>
  one.reduce((sum, sample, at) => sum + Math.abs(sample - (other[at] ?? 0)), 0) / one.length;

test.each([60, 300])('no two of the first two pages of %i animals are alike', async (count) => {
  const animals = shown(count);
  const drawn = await Promise.all(animals.map(async (animal) => ({ ...animal, samples: await samplesOf(animal) })));
  const alike = drawn.flatMap((one, at) =>
    drawn.slice(at + 1).flatMap((other) => {
      const by = difference(one.samples, other.samples);
      return by < differenceMin ? [`${one.id} ${one.name} and ${other.id} ${other.name} differ by ${by.toFixed(1)}`] : [];
    }),
  );
  expect(animals.length).toBeGreaterThan(animalsPerPage);
  expect(alike).toEqual([]);
});

test('an animal is drawn as young as its profile says, and the same each time', () => {
  const looks = devAnimals().map(({ categoryId }, index) => lookOf({ id: index + 1, categoryId }));
  expect(looks.filter(({ age, years, categoryId }) => categoryId <= 2 && (age === 'young') !== years < 1)).toEqual([]);
  expect(new Set(looks.map(({ age }) => age))).toEqual(new Set(['young', 'grown', 'old']));
  const again = lookOf({ id: 7, categoryId: 1 });
  expect(drawingOf(again)).toBe(drawingOf(lookOf({ id: 7, categoryId: 1 })));
});
