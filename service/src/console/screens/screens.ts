import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Static, TObject } from 'typebox';
import type { PersonCaller } from '../../access/principals/principals.ts';
import type { CatalogueTransaction } from '../../animals/list-cache/catalogue.ts';
import { isStaffAct, type StaffAct } from '../../domain/roles.ts';
import { hasOne, type Scope } from '../../domain/scopes.ts';
import type { AppError } from '../../platform/errors.ts';
import type { Html } from '../../platform/html.ts';
import type { FormOutcome, JoinedTransaction } from '../forms/form-runner.ts';
import type { IconName } from '../frame/elements.ts';
import type { FormOf, Visit } from './visit.ts';

export interface ShownPage {
  /** Of the window. The page has its own heading. */
  readonly title: string;
  readonly main: Html;
  /** What its visitor can undo, above it. */
  readonly strip?: Html | undefined;
}

export interface PageRoute {
  readonly path: string;
  readonly needs: Needs;
  /** Where the page is in the navigation, from the left. Undefined: it is not there. */
  readonly place?: {
    readonly name: string;
    /** What people of a shelter read, who have one place there in place of a list. */
    readonly nameInShelter?: string;
    readonly icon: IconName;
    readonly order: number;
  };
  /** Needs a sign-in within the last ten minutes: who is signed in for longer does so again first. */
  readonly isFresh?: true;
  readonly show: (visit: Visit) => Promise<ShownPage> | ShownPage;
}

export interface Submission<Values> {
  readonly visit: Visit;
  readonly values: Values;
  /** Of what is changed, as the page showed it. */
  readonly version: string | undefined;
  /** In which the form is carried out once. Everything that it does belongs in it. */
  readonly tx: CatalogueTransaction;
  /** The same for operations that would open a transaction: they join this one. */
  readonly joined: JoinedTransaction;
  /** As it was sent: for fields that no schema knows, such as a shelter's questions. */
  readonly sent: URLSearchParams;
}

export interface FormRoute<Schema extends TObject = TObject> extends FormOf {
  readonly path: string;
  /** The page that it is on, which shows it again if it can't be carried out. Its ids are in the path of the form, too. */
  readonly page: PageRoute;
  readonly needs: Needs;
  readonly isFresh?: true;
  /** It ends a session or somebody's rights, or undoes: that is possible also for who has used up everything, and shows nothing of its page. */
  readonly ends?: true;
  readonly fields: Schema;
  /** What the schema can't say of the values that it accepts, by field: said together with what it does say. The act checks it again. */
  readonly check?: (visit: Visit, values: Partial<Static<Schema>>, sent: URLSearchParams) => Promise<ReadonlyMap<string, string>>;
  readonly act: (submission: Submission<Static<Schema>>) => Promise<FormOutcome>;
  /** What somebody else has done meanwhile, if the version is no longer that of the page: in words. */
  readonly explainConflict?: (visit: Visit) => Promise<Html | string>;
  /** What an error of an operation means to the person. Undefined: what the operation says is said. */
  readonly explain?: (error: AppError, visit: Visit) => Promise<Html | string | undefined>;
  /** The path of the form whose page is shown again with what was sent, such as a mail before it goes. Nothing is carried out. */
  readonly previewOf?: string;
}

/** For what is no form, such as an upload: the session, the right, where it comes from and its token are checked. */
export interface OtherRoute {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly needs: Needs;
  readonly isFresh?: true;
  /** Called by a script of a page: errors are JSON. */
  readonly isScript?: true;
  /** The token is in the body, which the handler reads while it arrives: it checks it before anything else. */
  readonly checksToken?: true;
  readonly handle: (visit: Visit, request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;
}

/** All that the console shows and does, as a list: the server mounts it, the navigation is made of it, and tests walk through it. */
export class Screens {
  readonly pages: PageRoute[] = [];
  readonly forms: FormRoute[] = [];
  readonly others: OtherRoute[] = [];

  page(route: PageRoute): PageRoute {
    this.pages.push(route);
    return route;
  }

  form<Schema extends TObject>(route: FormRoute<Schema>): FormRoute<Schema> {
    this.forms.push(route as unknown as FormRoute);
    return route;
  }

  /** Sends what is typed into a form to look at it. The page finds it where it finds a form that was not accepted. */
  preview<Schema extends TObject>(of: FormRoute<Schema>, path: string): FormRoute<Schema> {
    return this.form({ ...of, path, previewOf: of.path });
  }

  other(route: OtherRoute): OtherRoute {
    this.others.push(route);
    return route;
  }
}

/** What a screen needs: a scope or one of several, as an operation does; an act that no scope covers; or only that somebody is signed in. */
export type Needs = Scope | StaffAct | readonly Scope[] | 'a person';

/** Whether the role of a person permits it. Which shelters it permits it in is for the operations to say. */
export function mayUse({ scopes, acts }: Pick<PersonCaller, 'scopes' | 'acts'>, needs: Needs): boolean {
  if (needs === 'a person') return true;
  if (typeof needs === 'string' && isStaffAct(needs)) return acts.includes(needs);
  return hasOne(scopes, [needs].flat());
}
