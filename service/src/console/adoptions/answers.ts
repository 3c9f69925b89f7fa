import { type Html, html } from '../../platform/html.ts';
import type { Answer } from '../../store/questions/answer-schemas.ts';

const spoken = (answer: Answer['answer']): string => {
  if (typeof answer === 'boolean') return answer ? 'Yes' : 'No';
  return typeof answer === 'string' ? answer : answer.join(', ');
};

export const shownAnswer = ({ answer }: Answer): Html => html`<span class="story" dir="auto">${spoken(answer)}</span>`;

/** The beginning of an answer: several that are long stand side by side. */
export function briefAnswer({ answer }: Answer, lengthMax: number): Html {
  const characters = [...spoken(answer)];
  return characters.length <= lengthMax
    ? shownAnswer({ answer, question: '', text: '' })
    : html`<span class="story" dir="auto">${characters.slice(0, lengthMax - 1).join('')}…</span>`;
}

export const answerList = (answers: readonly Answer[]): Html =>
  html`<dl class="answers">${answers.map((answer) => html`<div><dt dir="auto">${answer.text}</dt><dd>${shownAnswer(answer)}</dd></div>`)}</dl>`;
