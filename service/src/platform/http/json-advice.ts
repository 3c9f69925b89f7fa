/** How much of the text is looked at before and behind the fault. */
const contextLength = 60;
/** V8 names the character, with some text around it, where it names no position. */
const quotedText = /^Unexpected token '(.)'(?:, (?:\.\.\.)?"(.*?)"(?:\.\.\.)? is not valid JSON)?/s;

/** Says how to correct the usual faults of JSON that was written by hand or by a shell. Empty: the fault is another one. */
export function adviseOnJson(text: string, reason: string): string {
  const { fault, before, after } = findFault(text, reason);
  const mistake = mistakes.find((one) => one.is({ fault, before, after, reason, text: text.slice(0, contextLength) }));
  return mistake ? ` ${mistake.advice}` : '';
}

interface Fault {
  /** The character that was not expected. */
  readonly fault: string;
  readonly before: string;
  /** From the fault on. */
  readonly after: string;
  /** Where the body begins. */
  readonly text: string;
  readonly reason: string;
}

const mistakes: ReadonlyArray<{ is(fault: Fault): boolean; advice: string }> = [
  { is: ({ text }) => /^[\w.%+[\]-]+=/.test(text), advice: 'It is the data of a form. Send {"name":"value"} in place of name=value.' },
  { is: ({ text }) => /^(--|<)/.test(text), advice: 'It is a form or XML. Send a JSON object.' },
  {
    is: ({ reason, after }) => /end of JSON input|Unterminated string/.test(reason) || (/ at position /.test(reason) && after === ''),
    advice: 'It is cut off: a quote or a bracket is missing at its end.',
  },
  { is: ({ fault, before }) => /[}\]]/.test(fault) && /,\s*$/.test(before), advice: 'Remove the comma before the closing bracket.' },
  { is: ({ fault }) => /['\u2018-\u201f`]/.test(fault), advice: 'Put names and texts in double quotes ("), not in others.' },
  { is: ({ after }) => /^(True|False|None|undefined|NaN)\b/.test(after), advice: 'JSON has true, false and null, in lower case.' },
  { is: ({ after }) => /^\/[/*]/.test(after), advice: 'JSON has no comments.' },
  { is: ({ fault, before }) => /[\w$]/.test(fault) && /[{,]\s*$/.test(before), advice: 'Put names in double quotes.' },
  { is: ({ fault, before }) => /[a-z_]/i.test(fault) && /[:[]\s*$/.test(before), advice: 'Put texts in double quotes.' },
  { is: ({ reason }) => /after JSON/.test(reason), advice: 'Send one object, and nothing after it.' },
  { is: ({ reason, fault }) => /control character/.test(reason) && /[\r\n]/.test(fault), advice: 'Write a line break in a text as \\n.' },
  { is: ({ fault, before }) => fault === '"' && /[\w"\]}]\s*$/.test(before), advice: 'A comma is missing before it.' },
];

function findFault(text: string, reason: string): Pick<Fault, 'fault' | 'before' | 'after'> {
  const position = positionOf(text, reason);
  const at = (from: number, to: number) => text.slice(Math.max(from, 0), to);
  if (position === undefined) return { fault: '', before: '', after: '' };
  return { fault: text[position] ?? '', before: at(position - contextLength, position), after: at(position, position + contextLength) };
}

/** Undefined: the reason does not say where. */
function positionOf(text: string, reason: string): number | undefined {
  const [, position] = / at position (\d+)/.exec(reason) ?? [];
  if (position !== undefined) return Number(position);
  const [, fault = '', around = ''] = quotedText.exec(reason) ?? [];
  const start = around === '' ? -1 : text.indexOf(around);
  if (fault === '' || start < 0) return undefined;
  // Ten characters stand before the fault, or fewer at the beginning.
  const index = around.indexOf(fault, reason.includes('..."') ? shownBefore : 0);
  return index < 0 ? undefined : start + index;
}

const shownBefore = 10;
