export interface Block {
  readonly language: string;
  readonly text: string;
}

const tabLanguages = ['sh', 'ts', 'py'];

const fence = /^( *)```(\w*)\n(.*?)^\1```$/gms;

/** The fenced code blocks of a Markdown text, in order. Blocks in a list lose its indentation. */
export const fencedBlocks = (markdown: string): Block[] => blockGroups(markdown).flat();

/**
 * The same blocks in groups. Blocks of different languages with nothing between them are one group: the site shows them as tabs,
 * since they do the same. Every other block is a group of one.
 */
export function blockGroups(markdown: string): Block[][] {
  const groups: Block[][] = [];
  let end = 0;
  for (const { 0: whole, 1: indentation = '', 2: language = '', 3: text = '', index } of markdown.matchAll(fence)) {
    const block = { language, text: text.replaceAll(new RegExp(`^${indentation}`, 'gm'), '') };
    const group = groups.at(-1) ?? [];
    const isAdjacent = markdown.slice(end, index).trim() === '';
    const isTab = [block, ...group].every(
      (one, i, all) => tabLanguages.includes(one.language) && (i === 0 || one.language !== all[0]?.language),
    );
    if (group.length > 0 && isAdjacent && isTab) group.push(block);
    else groups.push([block]);
    end = index + whole.length;
  }
  return groups;
}

export const withoutBlocks = (markdown: string): string => markdown.replaceAll(fence, '');

/** The commands of a block, with continued lines joined and without comments. */
export function commandsOf({ text }: Block): string[] {
  return text
    .replace(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('#'));
}
