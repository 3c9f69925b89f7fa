// The commands of a section of a document, as an operator copies them.

const fence = /^( *)```(\w*)\n(.*?)^\1```$/gms;

/**
 * The lines of all blocks `sh` between a heading and the next one. Throws if there is a block of another language: a command that is not
 * found would not be run, and nobody would notice.
 */
export function commandsOfSection(markdown: string, heading: string): string[] {
  const section = sectionOf(markdown, heading);
  return [...section.matchAll(fence)].flatMap(([, indentation = '', language = '', text = '']) => {
    if (language !== 'sh') throw new Error(`"${heading}" has a block "${language}": write its commands as sh`);
    const lines = text.replaceAll(new RegExp(`^${indentation}`, 'gm'), '').split('\n');
    return lines.filter((line) => line.trim() !== '' && !line.startsWith('#'));
  });
}

function sectionOf(markdown: string, heading: string): string {
  const lines = markdown.split('\n');
  const start = lines.indexOf(heading);
  if (start < 0) throw new Error(`there is no heading "${heading}"`);
  let isInBlock = false;
  const end = lines.findIndex((line, i) => {
    if (/^ *```/.test(line)) isInBlock = !isInBlock;
    return i > start && !isInBlock && /^#+ /.test(line);
  });
  return lines.slice(start + 1, end < 0 ? undefined : end).join('\n');
}
