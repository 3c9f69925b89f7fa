// The shelters of the development store that take applications, and what they ask. The others take orders.
import type { Question } from '../sdk/src/index.ts';

export interface Asking {
  /** One of `devShelters`. */
  readonly shelter: string;
  readonly note: string;
  readonly questions: readonly Question[];
}

const garden: Question = { id: 'garden', text: 'Do you have a garden?', type: 'yes_no', required: true };
const ifGarden = { question: 'garden', is: true } as const;
const why: Question = { id: 'why', text: 'Tell us about the home you offer.', type: 'text', required: true };

export const devAsking: readonly Asking[] = [
  {
    shelter: 'Claddagh Paws',
    note: 'We read every application on Mondays and Thursdays.\n\nThere are no wrong answers: tell us how you live, and we look for a home that fits.',
    questions: [
      { id: 'home', text: 'Where do you live?', type: 'choice', options: ['House', 'Flat', 'Farm'], required: true },
      garden,
      {
        id: 'fence',
        text: 'How high is the fence around it?',
        type: 'choice',
        options: ['There is none', 'Up to 1 m', 'Higher'],
        required: true,
        onlyIf: ifGarden,
      },
      {
        id: 'company',
        text: 'Who lives with you?',
        type: 'choices',
        options: ['Children', 'Dogs', 'Cats', 'Small animals'],
        required: false,
      },
      { id: 'away', text: 'For how many hours a day is nobody at home?', type: 'line', required: true },
      why,
    ],
  },
  {
    shelter: 'Lee Valley Animal Home',
    note: 'Please plan two visits before an animal moves in.',
    questions: [
      garden,
      { id: 'rented', text: 'Do you rent your home?', type: 'yes_no', required: true },
      {
        id: 'landlord',
        text: 'Does your landlord allow animals?',
        type: 'yes_no',
        required: true,
        onlyIf: { question: 'rented', is: true },
      },
      why,
    ],
  },
];
