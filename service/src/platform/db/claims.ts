import type { Writer } from './handles.ts';

/** A row that one worker has until its claim ends. Every write has the number, so that a worker that has lost its claim writes nothing. */
export interface Claim {
  readonly id: bigint;
  /** Only grows: each claim on any row of the table has a higher one. */
  readonly number: bigint;
}

/** The fence of every write: $1 and $2 are `fenceOf` the claim. */
export const isClaimed = 'id = $1 and claim = $2';
export const fenceOf = ({ id, number }: Claim) => [id, number];

const removal = { sets: 'update removed_photo_bytes set', end: 'claimed_until' };

/** What a claim sets beside its end, in which column that is, which rows are due, and which of them come first. */
const rules = {
  mail: {
    sets: `update mail set claim = nextval('mail_claims'), attempts = attempts + 1, claimed_at = now(), begun_at = null,`,
    end: 'due_at',
    due: `from mail where state = 'queued' and due_at <= now()`,
    order: 'due_at',
  },
  photos: {
    sets: `update photos set claim = nextval('photo_claims'), attempts = attempts + 1,`,
    end: 'claimed_until',
    due: `from photos where status = 'processing' and (claimed_until is null or claimed_until < now())`,
    order: 'client_id, attempts, id',
  },
  'removed-files': { ...removal, due: 'from removed_photo_bytes where files is not null and claimed_until is null', order: 'removed_at' },
  'removed-files-again': {
    ...removal,
    due: 'from removed_photo_bytes where files is not null and claimed_until < now()',
    order: 'claimed_until',
  },
};

/** A statement that claims rows that are due and meet the condition, for $1 seconds. What it returns follows. */
export const claiming = (of: keyof typeof rules, condition: string, limit = '1') => {
  const { sets, end, due, order } = rules[of];
  return `${sets} ${end} = now() + make_interval(secs => $1)
    where id = any(array(select id ${due} and ${condition} order by ${order} limit ${limit} for update skip locked)) returning id`;
};

export async function extendClaim(db: Writer, table: 'mail' | 'photos', claim: Claim, seconds: number): Promise<void> {
  await db.write({
    name: `extend-claim-on-${table}`,
    text: `update ${table} set ${rules[table].end} = now() + make_interval(secs => $3) where ${isClaimed}`,
    values: [...fenceOf(claim), seconds],
  });
}
