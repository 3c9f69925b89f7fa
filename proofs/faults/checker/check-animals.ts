// Animals: what was acknowledged is there once, and every response about an animal fits one order of the operations on it.
import { type CheckOptions, type Create, type Facts, type Finding, type History, type Operation, tokenOf } from '../history.ts';
import { type AnimalStep, absent, describeState, finalState, statesIn, stepsOf, takeover, vanishing } from './animal-model.ts';
import { describeOperation } from './described-operations.ts';
import { linearize } from './linearizability.ts';

const pathShownMax = 4;

export function checkAnimals({ operations }: History, facts: Facts, options: CheckOptions, originMs: number): Finding[] {
  const creates = operations.filter(({ kind }) => kind === 'create') as Create[];
  const { findings, unsoundTokens } = checkCreates(creates, facts, options, originMs);
  const steps = stepsByAnimal(operations, facts, options, unsoundTokens);
  const inDatabase = statesIn(facts);
  const inStandby = options.lackedByStandby && statesIn(options.lackedByStandby.standby);
  for (const [petId, ofAnimal] of steps) {
    const more = [
      finalState(inDatabase(petId), facts.readAtMs),
      ...(inStandby && options.lackedByStandby ? [takeover(inStandby(petId), options.lackedByStandby)] : []),
      ...(options.vanishing ?? []).map(vanishing),
    ];
    findings.push(...judge(petId, [...ofAnimal, ...more], originMs));
  }
  return [...findings, ...checkOpenOrders(facts)];
}

function checkCreates(
  creates: readonly Create[],
  facts: Facts,
  { lackedByStandby }: CheckOptions,
  originMs: number,
): { findings: Finding[]; unsoundTokens: ReadonlySet<string> } {
  const rowsByToken = Map.groupBy(facts.animals, ({ name }) => tokenOf(name));
  const inStandby = new Set(lackedByStandby?.standby.animals.map(({ name }) => tokenOf(name)));
  const findings: Finding[] = [];
  const unsoundTokens = new Set<string>();
  const report = (create: Create, finding: Finding) => {
    findings.push({ ...finding, text: `${finding.text} ${describeOperation(create, originMs)}.` });
    if (!finding.isAllowed) unsoundTokens.add(create.token);
  };
  for (const create of creates) {
    const rows = rowsByToken.get(create.token) ?? [];
    const subject = `animal "${create.asked.name}"`;
    const ids = rows.map(({ id }) => id).join(', ');
    const once = create.outcome === 'unknown' ? 'unknown animal is there at most once' : 'acknowledged animal is there once';
    if (rows.length > 1) report(create, { rule: once, subject, text: `One create has made ${rows.length} animals, with the ids ${ids}.` });
    else if (create.outcome === 'failed' && rows.length > 0)
      report(create, {
        rule: 'failed change is not applied',
        subject,
        text: `The create certainly failed, yet the animal is there, with the id ${ids}.`,
      });
    else if (create.outcome === 'ok' && rows.length === 0) {
      const isAllowed =
        lackedByStandby !== undefined &&
        !inStandby.has(create.token) &&
        (create.attempts.at(-1)?.endMs ?? Infinity) <= lackedByStandby.endMs;
      const text = isAllowed
        ? `Lost: animal ${create.petId} was acknowledged, and the standby that took over lacked it.`
        : `Animal ${create.petId} was acknowledged and is not in the database.`;
      report(create, { rule: once, subject, text, ...(isAllowed && { isAllowed }) });
    } else if (create.outcome === 'ok' && rows[0]?.id !== create.petId)
      report(create, { rule: once, subject, text: `The response said id ${create.petId}, and the database has id ${ids}.` });
  }
  return { findings, unsoundTokens };
}

/** Animals whose create is already a finding are left out: everything about them would be one too. */
function stepsByAnimal(
  operations: readonly Operation[],
  facts: Facts,
  { vanishing: failovers, listsStaleMsMax = 0, commitsWaitUntilMs = 0 }: CheckOptions,
  unsoundTokens: ReadonlySet<string>,
): Map<number, AnimalStep[]> {
  const idByToken = new Map(facts.animals.map(({ id, name }) => [tokenOf(name), id]));
  const unsoundIds = new Set<number>();
  const steps = new Map<number, AnimalStep[]>();
  const options = { mayVanish: failovers !== undefined, listsStaleMs: listsStaleMsMax };
  for (const operation of operations) {
    for (const petId of animalsOf(operation, idByToken)) {
      if (operation.kind === 'create' && unsoundTokens.has(operation.token)) unsoundIds.add(petId);
      const ofAnimal = steps.get(petId) ?? [];
      if (ofAnimal.length === 0) steps.set(petId, ofAnimal);
      ofAnimal.push(...stepsOf(operation, petId, options));
    }
  }
  for (const petId of unsoundIds) steps.delete(petId);
  return new Map([...steps].map(([petId, ofAnimal]) => [petId, withListsBehind(ofAnimal, commitsWaitUntilMs)]));
}

/** Lists learn of a change just before it is acknowledged, and of one whose outcome is unknown when that is, or when its event is published. */
const announcedWithinMs = 1_000;

/** A list may show an animal as it was before the changes that were in progress when it was asked for, though a read by id shows them. */
function withListsBehind(steps: readonly AnimalStep[], commitsWaitUntilMs: number): AnimalStep[] {
  const changes = steps.flatMap(({ operation, isObserver, beginMs }) => {
    if (!operation || isObserver) return [];
    const endMs = operation.attempts.at(-1)?.endMs ?? Infinity;
    return [{ beginMs, endMs: operation.outcome === 'unknown' ? Math.max(endMs, commitsWaitUntilMs) + announcedWithinMs : endMs }];
  });
  return steps.map((step) => {
    if (step.operation?.kind !== 'list') return step;
    const inProgress = changes.filter(({ beginMs, endMs }) => beginMs <= step.beginMs && endMs >= step.beginMs);
    return { ...step, beginMs: Math.min(step.beginMs, ...inProgress.map(({ beginMs }) => beginMs)) };
  });
}

/** A create without a response is of the animal that has its token, if there is one. */
function animalsOf(operation: Operation, idByToken: ReadonlyMap<string, number>): readonly number[] {
  if (operation.kind === 'list') return operation.petIds;
  const petId = operation.kind === 'create' ? (operation.petId ?? idByToken.get(operation.token)) : operation.petId;
  return petId === undefined ? [] : [petId];
}

function judge(petId: number, steps: readonly AnimalStep[], originMs: number): Finding[] {
  const subject = `animal ${petId}`;
  const verdict = linearize(steps, absent);
  if (verdict.outcome === 'linearizable') return [];
  if (verdict.outcome === 'undecided') {
    const text = `No order of its operations was found among ${verdict.configurations} configurations, and not all were tried.`;
    return [{ rule: 'history can be judged', subject, text }];
  }
  const { stuck, states, path } = verdict;
  const describe = ({ operation, text }: AnimalStep) => (operation ? `${describeOperation(operation, originMs)} ${text}` : text);
  const before = path.slice(-pathShownMax).map(describe).join('; ');
  const text = `No order of its operations explains this: ${describe(stuck)}. ${whyNot(stuck, steps)}The animal could then only be: ${states.map(describeState).join('; or ')}. Before that: ${before || 'nothing'}.`;
  return [{ rule: 'animal is linearizable', subject, text }];
}

/** A value that nobody wrote is the plainest reason, so it is named. */
function whyNot({ operation, isObserver }: AnimalStep, steps: readonly AnimalStep[]): string {
  const names =
    operation?.kind === 'read' ? [operation.value?.name] : operation?.kind === 'list' ? operation.values?.map(({ name }) => name) : [];
  const [token] = steps.flatMap((step) => (step.operation?.kind === 'create' ? step.operation.token : []));
  const seen = names?.find((name) => name !== undefined && tokenOf(name) === token);
  if (!isObserver || seen === undefined) return '';
  const isWritten = steps.some(
    (step) => step.operation && !step.isObserver && 'asked' in step.operation && step.operation.asked.name === seen,
  );
  return isWritten ? '' : `No operation that may have been applied gave it the name "${seen}". `;
}

function checkOpenOrders({ orders }: Facts): Finding[] {
  const openByPet = Map.groupBy(
    orders.filter(({ status }) => status === 'placed' || status === 'approved'),
    ({ petId }) => petId,
  );
  return [...openByPet].flatMap(([petId, open]) => {
    if (open.length < 2) return [];
    const text = `It has ${open.length} open orders: ${open.map(({ id, status }) => `${id} (${status})`).join(', ')}.`;
    return [{ rule: 'one open order an animal', subject: `animal ${petId}`, text }] as const;
  });
}
