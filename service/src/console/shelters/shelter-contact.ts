import { type TProperties, Type } from 'typebox';
import { shelterEtag } from '../../adoption/shelters/shelter-json.ts';
import { NewShelterSchema, type ShelterChanges, ShelterChangesSchema, ShelterSchema } from '../../adoption/shelters/shelter-schemas.ts';
import { html } from '../../platform/html.ts';
import type { PageRoute, Screens } from '../screens/screens.ts';
import { explainSettings, getSettled, type ShelterParts, settle, shelterHead, shelterPath, toSettle } from './one-shelter.ts';

const { name } = NewShelterSchema.properties;
const { description, email, phone, website, address, town, postcode, country, timezone, applicationNote, mailReceived, mailAccepted } =
  ShelterChangesSchema.properties;
const { adoption, applicationsMax, newAnimalsHeld } = ShelterSchema.properties;

const heldHint = 'Each new animal is on hold until you end that on its page. Nobody can order it meanwhile.';

/** What the shelter says of itself, how its animals are adopted, and what mail adds: a form each. */
export function addShelterForms(screens: Screens, parts: ShelterParts): void {
  addSettings(screens, parts, {
    name: 'contact',
    title: 'Name and contact',
    done: 'Name and contact are saved.',
    about: 'Adopters read this on the sites of partners and in mail.',
    fields: { name, description, email, phone, website, address, postcode, town, country, timezone },
    body: (fields) => html`${fields.text('name', 'Name')}
${fields.text('phone', 'Telephone', { type: 'tel' })}
${fields.text('email', 'E-mail address', { type: 'email', hint: 'Adopters reply to it, and it is told when applications wait.' })}
${fields.text('website', 'Website', { type: 'url' })}
${fields.area('address', 'Address', { hint: 'Where visitors find you.', rows: 3 })}
${fields.text('postcode', 'Postcode')}
${fields.text('town', 'Town', { hint: 'People search for animals near it.' })}
${fields.text('country', 'Country', { hint: 'By its two letters, such as AT.' })}
${fields.text('timezone', 'Time zone', { hint: 'Such as Europe/Vienna. The console and your opening hours go by it.' })}
${fields.area('description', 'About you', { rows: 6 })}`,
  });
  addSettings(screens, parts, {
    name: 'adoption',
    title: 'How animals are adopted',
    done: 'It is saved, and holds from now on. What adopters have sent already stays as it is.',
    fields: { adoption, applicationsMax, applicationNote, newAnimalsHeld },
    body: (fields) => html`${fields.choices('adoption', 'How', [
      { value: 'application', label: 'Adopters apply, and you choose', hint: 'Several may apply for one animal. You accept one of them.' },
      { value: 'order', label: 'The first to ask reserves', hint: 'Nobody else can ask while you decide.' },
    ])}
${fields.text('applicationsMax', 'Open applications for an animal, at most')}
${fields.area('applicationNote', 'What adopters should read before they apply', { rows: 5 })}
${fields.check('newAnimalsHeld', 'New animals begin “not ready yet”', { hint: heldHint })}`,
  });
  addSettings(screens, parts, {
    name: 'mail',
    title: 'What mail adds',
    done: 'The texts are saved.',
    about:
      'The store writes the messages to adopters: what has happened, a link, and how to reach you. Here you can add something of yours, such as what to bring. It is in messages to addresses that their owners have confirmed.',
    fields: { mailReceived, mailAccepted },
    body: (
      fields,
    ) => html`${fields.area('mailReceived', 'When an application has come in', { rows: 4, hint: 'For example when you answer.' })}
${fields.area('mailAccepted', 'When you accept an application', { rows: 4, hint: 'For example what to bring, and when to come.' })}`,
  });
}

interface Settings {
  /** The last part of the path. */
  readonly name: string;
  readonly title: string;
  readonly about?: string;
  /** What the next page says. */
  readonly done: string;
  readonly fields: TProperties;
  readonly body: Parameters<Parameters<PageRoute['show']>[0]['form']>[2];
}

/** A page with one form, whose fields are those of the shelter. */
function addSettings(screens: Screens, { db, mails }: ShelterParts, { name: part, title, about, done, fields, body }: Settings): void {
  const path = `${shelterPath}/${part}`;
  const page: PageRoute = screens.page({
    path,
    needs: toSettle,
    show: async (visit) => {
      const shelter = await getSettled(db, visit);
      const values = Object.fromEntries(
        Object.keys(fields).map((field) => [field, shelter[field as keyof typeof shelter] as string | null]),
      );
      return {
        title,
        main: html`${shelterHead(shelter, title)}
${about !== undefined && html`<p>${about}</p>`}
<section class="card">${visit.form(save, { submit: 'Save', values, version: shelterEtag(shelter) }, body)}</section>`,
      };
    },
  });
  const save = screens.form({
    path,
    page,
    needs: toSettle,
    fields: Type.Object(fields),
    explainConflict: explainSettings,
    act: (submission) => settle(submission, submission.values as ShelterChanges, { mails, done }),
  });
}
