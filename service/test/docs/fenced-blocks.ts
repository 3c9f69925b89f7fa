export interface Block {
  readonly language: string;
  readonly text: string;
}

/** The fenced code blocks of a Markdown text, in order. */
export function fencedBlocks(markdown: string): Block[] {
  return [...markdown.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(([, language = '', text = '']) => ({ language, text }));
}

/** The commands of a block, continued lines joined, comments left out. */
export function commandsOf({ text }: Block): string[] {
  return text
    .replace(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('#'));
}
