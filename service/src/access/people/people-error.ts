/** Why an act on a person, a link or a passkey fails. The message is for the one who asked for it. */
export type PeopleProblem =
  /** The caller may not do so, or not in that shelter. */
  | 'not_allowed'
  | 'not_found'
  /** An address, a name or a role that can't be. */
  | 'invalid'
  /** The address, passkey or account is somebody's already. */
  | 'taken'
  /** The store would have no admin. */
  | 'last_admin'
  /** As many as allowed. */
  | 'limit'
  /** A link or an invitation that was used or has ended. */
  | 'ended';

export class PeopleError extends Error {
  readonly problem: PeopleProblem;

  constructor(problem: PeopleProblem, message: string) {
    super(message);
    this.problem = problem;
  }
}
