import { describe, expect, test } from 'vitest';
import { type Measure, runRounds, type Sample } from './rounds.ts';
import { scenarios } from './scenarios.ts';
import { summarise } from './summary.ts';

const sample = (perSecond: number): Sample => ({ requests: 10, perSecond, cpuUs: { own: 300, redis: 20, postgres: 100 } });
const measured = { rounds: 3, seconds: 5, progress: () => {} };

/** Gets no response in the measured turns of these numbers, from 1 on. */
function failingIn(...turns: number[]): Measure {
  let turn = 0;
  return async (seconds) => {
    if (seconds !== measured.seconds) return sample(0);
    turn += 1;
    if (turns.includes(turn)) throw new Error('not all of 0 requests succeeded');
    return sample(turn);
  };
}

describe('Rounds', () => {
  test('of which a contender loses two turns are completed: both are repeated and reported', async () => {
    const { samples, lost } = await runRounds(
      new Map([
        ['steady', failingIn()],
        ['failing', failingIn(2, 3)],
      ]),
      measured,
    );
    expect(samples.get('steady')).toEqual([sample(1), sample(2), sample(3)]);
    expect(samples.get('failing')).toEqual([sample(1), sample(4), sample(5)]);
    const reason = 'not all of 0 requests succeeded';
    expect(lost).toEqual([
      { contender: 'failing', round: 2, reason },
      { contender: 'failing', round: 2, reason },
    ]);
  });

  test('of which a contender loses three turns end with its error', async () => {
    await expect(runRounds(new Map([['failing', failingIn(1, 3, 5)]]), measured)).rejects.toThrow('not all of 0 requests succeeded');
  });
});

test('The fastest peer by CPU time is the one with the most requests per second of process and PostgreSQL together', () => {
  const scenario = scenarios.find(({ name }) => name === 'list-miss');
  if (!scenario) throw new Error('there is no list-miss');
  const taking = (perSecond: number, own: number, postgres: number): Sample[] => [
    { requests: 1, perSecond, cpuUs: { own, redis: 1, postgres } },
  ];
  const samples = new Map([
    ['homeward-uncached', taking(100, 300, 200)],
    ['express', taking(400, 400, 600)],
    ['nest', taking(100, 900, 900)],
    ['fastify', taking(200, 350, 50)],
  ]);
  const { ratios } = summarise(scenario, { samples, lost: [] }, { seconds: 1, rounds: 1, warnings: [] });
  expect(ratios.map(({ key, to, median }) => [key, to, median])).toEqual([
    ['list_miss_per_cpu_vs_fastest_peer', 'fastify', 0.8],
    ['list_miss_vs_fastest_peer', 'express', 0.25],
  ]);
});
