// The scenarios: what is broken, how often, and what must hold. Each also must lose nothing: see round.ts.
import { diskScenarios } from './disk-scenarios.ts';
import { postgresScenarios } from './postgres-scenarios.ts';
import { processScenarios } from './process-scenarios.ts';
import { redisScenarios } from './redis-scenarios.ts';
import type { Scenario } from './scenario.ts';

export const scenarios = { ...postgresScenarios, ...redisScenarios, ...processScenarios, ...diskScenarios } satisfies Record<
  string,
  Scenario
>;

export type ScenarioName = keyof typeof scenarios;
export const scenarioNames = Object.keys(scenarios) as ScenarioName[];
