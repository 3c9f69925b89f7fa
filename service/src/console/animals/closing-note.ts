import { listOpenApplicants } from '../../adoption/applications/staff-applications.ts';
import type { ClosedReason } from '../../domain/application-states.ts';
import type { Db } from '../../platform/db/handles.ts';
import { type Html, html, personal } from '../../platform/html.ts';
import type { StaffAnimal } from '../../search/listings/staff-list.ts';
import type { Visit } from '../screens/visit.ts';

interface Parts {
  readonly db: Db;
  /** Mail is on: adopters are told. */
  readonly mails: boolean;
}

const namesMax = 10;
const applicantsMax = 1_000;

/** What adopters read whose applications are closed. */
const reasons = {
  adopted: (pet: string) => html`<bdi>${pet}</bdi> has found a home with somebody else`,
  unavailable: (pet: string) => html`<bdi>${pet}</bdi> is no longer up for adoption`,
} as const satisfies Partial<Record<ClosedReason, (pet: string) => Html>>;

/** Before an act: which open applications for the animal it closes, and who gets mail that says so, by name. */
export async function closingNote(
  { db, mails }: Parts,
  visit: Visit,
  { id, name }: Pick<StaffAnimal, 'id' | 'name'>,
  { reason, besides }: { readonly reason: keyof typeof reasons /** The application of who gets it. */; readonly besides?: bigint | null },
): Promise<Html> {
  const found = await listOpenApplicants(db, visit.caller, id, applicantsMax);
  const closed = found.filter((applicant) => applicant.id !== besides);
  if (closed.length === 0) return html`<p>${besides === undefined ? 'Nobody' : 'Nobody else'} has applied, so nobody else is told.</p>`;
  const isTold = ({ isMailed }: (typeof closed)[number]) => mails && isMailed;
  const told = closed.filter(isTold);
  const untold = closed.filter((applicant) => !isTold(applicant));
  const [one, get] = [closed.length === 1, told.length === 1 ? 'gets' : 'get'];
  return html`<p>${closed.length} open ${one ? 'application is' : 'applications are'} closed.
${told.length > 0 && html`${namesOf(told)} ${get} mail that ${reasons[reason](name)}: in two minutes, unless you undo it before.`}</p>
${untold.length > 0 && html`<p>No mail goes to ${namesOf(untold)}: tell them yourself.</p>`}`;
}

/** Ada, Ben and Cleo. */
function namesOf(applicants: ReadonlyArray<{ readonly adopter: string | null }>): Html {
  const names = applicants
    .slice(0, namesMax)
    .map(({ adopter }) => (adopter === null ? html`an erased adopter` : personal(html`<bdi>${adopter}</bdi>`)));
  const more = applicants.length - names.length;
  const parts = more > 0 ? [...names, html`${more} more`] : names;
  return html`${parts.map((part, i) => html`${i > 0 && (i === parts.length - 1 ? ' and ' : ', ')}${part}`)}`;
}
