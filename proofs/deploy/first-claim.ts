import type { Claim } from '../proof.ts';

const secondsMax = 60;

export const firstClaim = (way: string, status: number, seconds: number): Claim => ({
  claim: `${way}: from a clean checkout to a first 200 with a created key, once the images are built`,
  bar: `${secondsMax} s at most`,
  figure: `${status} after ${seconds.toFixed(1)} s`,
  holds: status === 200 && seconds <= secondsMax,
  isTimed: status === 200,
});

export const firstPageClaim = (way: string, status: number, seconds: number): Claim => ({
  claim: `${way}: from the start to the first page of the console`,
  bar: `${secondsMax} s at most`,
  figure: `${status} after ${seconds.toFixed(1)} s`,
  holds: status === 200 && seconds <= secondsMax,
  isTimed: status === 200,
});
