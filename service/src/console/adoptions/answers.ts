import { type Html, html, personal } from '../../platform/html.ts';
import type { Answer } from '../../store/questions/answer-schemas.ts';

export const answerText = ({ answer }: Pick<Answer, 'answer'>): string => {
  if (typeof answer === 'boolean') return answer ? 'Yes' : 'No';
  return typeof answer === 'string' ? answer : answer.join(', ');
};

const shownAnswer = (answer: Answer): Html => personal(html`<span class="story" dir="auto">${answerText(answer)}</span>`);

export const answerList = (answers: readonly Answer[]): Html =>
  html`<dl class="answers">${answers.map((answer) => html`<div><dt dir="auto">${answer.text}</dt><dd>${shownAnswer(answer)}</dd></div>`)}</dl>`;
