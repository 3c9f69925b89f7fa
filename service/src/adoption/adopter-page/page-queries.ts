import type { PictureFile } from '../../animals/photos/photo-json.ts';
import type { ApplicationStatus, ClosedReason } from '../../domain/application-states.ts';
import type { Db } from '../../platform/db/handles.ts';
import type { Answer } from '../questions/question-schemas.ts';

/** What an adopter's page shows. Nothing of the adopter: anyone who has the link sees the page. */
export interface PageFacts {
  readonly id: bigint;
  readonly status: ApplicationStatus;
  readonly closedReason: ClosedReason | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** What staff wrote when they declined it. */
  readonly message: string | null;
  /** The adopter's data. */
  readonly isErased: boolean;
  /** Whether there are answers to be shown to who knows the e-mail address. */
  readonly hasAnswers: boolean;
  /** Whether there is an address to which a link may be mailed: its owner has confirmed it. */
  readonly isReached: boolean;
  /** The number of the links to this page. */
  readonly linkNumber: bigint;
  readonly pet: { readonly name: string; readonly isAvailable: boolean };
  /** Null: none is ready. */
  readonly photo: { readonly alt: string; readonly files: readonly PictureFile[] } | null;
  readonly shelter: ShelterContact;
}

export interface ShelterContact {
  readonly name: string;
  readonly email: string | null;
  readonly phone: string | null;
  readonly website: string | null;
  readonly address: string | null;
  readonly timezone: string | null;
}

export async function findPageFacts(db: Db, id: bigint): Promise<PageFacts | undefined> {
  const { rows } = await db.query<PageFacts>({
    name: 'adopters-page',
    text: `select applications.id, applications.status, closed_reason as "closedReason", applications.created_at as "createdAt",
        applications.updated_at as "updatedAt", message, adopter_email is null as "isErased",
        adopter_email is not null and coalesce(json_array_length(answers::json), 0) > 0 as "hasAnswers",
        is_mailed and is_confirmed and adopter_email is not null as "isReached", link_number as "linkNumber",
        json_build_object('name', pets.name, 'isAvailable', pets.removed_at is null and pets.status <> 'sold') as pet,
        (select json_build_object('alt', coalesce(alt, ''), 'files', files) from photos
          where pet_id = pets.id and photos.status = 'ready' and pets.removed_at is null order by position, photos.id limit 1) as photo,
        json_build_object('name', shelters.name, 'email', shelters.email, 'phone', shelters.phone, 'website', shelters.website,
          'address', shelters.address, 'timezone', shelters.timezone) as shelter
      from applications join pets on pets.id = applications.pet_id join shelters on shelters.id = applications.shelter_id
      where applications.id = $1`,
    values: [id],
  });
  return rows[0];
}

/** Undefined: they were erased. */
export async function findAnswers(db: Db, id: bigint): Promise<{ email: string; answers: readonly Answer[] } | undefined> {
  const { rows } = await db.query<{ email: string; answers: readonly Answer[] }>({
    name: 'adopters-answers',
    text: `select adopter_email as email, answers::json as answers from applications
      where id = $1 and adopter_email is not null and answers is not null`,
    values: [id],
  });
  return rows[0];
}
