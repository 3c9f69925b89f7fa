export interface Block {
  readonly language: string;
  readonly text: string;
}

const fence = /^( *)```(\w*)\n(.*?)^\1```$/gms;

/** The fenced code blocks of a Markdown text, in order. Blocks in a list lose its indentation. */
export function fencedBlocks(markdown: string): Block[] {
  return [...markdown.matchAll(fence)].map(([, indentation = '', language = '', text = '']) => ({
    language,
    text: text.replaceAll(new RegExp(`^${indentation}`, 'gm'), ''),
  }));
}

export const withoutBlocks = (markdown: string): string => markdown.replaceAll(fence, '');

/** The commands of a block, with continued lines joined and without comments. */
export function commandsOf({ text }: Block): string[] {
  return text
    .replace(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('#'));
}
