// Runs commands on a pseudo-terminal and makes a picture of what it shows, for the documentation:
//   node tools/node-runtime/run.mjs tools/terminal-picture.ts FILE.png [--columns N] [--reply TEXT] [--theme light] 'homeward keys list'…
// The environment is this process's. Questions get the text of --reply.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { launchBrowser } from '../testkit/browser.ts';

interface Theme {
  readonly background: string;
  readonly text: string;
  readonly dim: string;
  /** By the number of the ANSI sequence. */
  readonly colours: Readonly<Record<number, string>>;
}

const themes: Readonly<Record<string, Theme>> = {
  dark: {
    background: '#15181d',
    text: '#e4e7eb',
    dim: '#8b95a1',
    colours: { 31: '#ff7b72', 32: '#6bcf8e', 33: '#e3b341', 34: '#79b8ff', 35: '#d2a8ff', 36: '#6fd3e3' },
  },
  light: {
    background: '#fbfbfa',
    text: '#1f2328',
    dim: '#68707a',
    colours: { 31: '#c4232b', 32: '#1a7f37', 33: '#8a5f00', 34: '#0757ba', 35: '#7a3fc0', 36: '#0b6f80' },
  },
};

const timeoutMs = 60_000;
const escapeSequence = new RegExp(`${String.fromCharCode(27)}\\[([\\d;?]*)([A-Za-z])`);

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    columns: { type: 'string', default: '100' },
    reply: { type: 'string', default: 'n' },
    theme: { type: 'string', default: 'dark' },
  },
});
const [file = '', ...commands] = positionals;
const theme = themes[values.theme];
if (!file.endsWith('.png') || commands.length === 0 || !theme)
  throw new Error('Give FILE.png and at least one command; --theme is dark or light.');
const shown: string[] = [];
for (const command of commands) shown.push(`$ \u001b[1m${command}\u001b[22m\n${await outputOf(command)}`);
await photograph(shown.join('\n'), theme, file);

/** What a terminal shows while the command runs. */
async function outputOf(command: string): Promise<string> {
  const child = spawn('script', ['-qec', `stty cols ${values.columns}; ${command}`, '/dev/null'], {
    env: { ...process.env, PATH: `${path.resolve('node_modules/.bin')}:${process.env['PATH']}`, TERM: 'xterm-256color' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const tooLate = setTimeout(() => child.kill(), timeoutMs);
  let output = '';
  let replied = 0;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    const asked = output.split('[y/N] ').length - 1;
    for (; replied < asked; replied += 1) child.stdin.write(`${values.reply}\r`);
  });
  await once(child, 'close');
  clearTimeout(tooLate);
  return output.replace(/\r+\n/g, '\n');
}

async function photograph(text: string, { background, text: colour, dim, colours }: Theme, to: string): Promise<void> {
  const styles = Object.entries(colours).map(([code, value]) => `.c${code} { color: ${value} }`);
  const html = `<!doctype html><meta charset="utf-8"><style>
    body { margin: 0; display: inline-block; background: ${background} }
    pre { margin: 0; padding: 20px 24px; color: ${colour}; font: 14px/1.5 'JetBrains Mono', 'DejaVu Sans Mono', monospace; white-space: pre; width: max-content }
    b { font-weight: 700 } .dim { color: ${dim} } ${styles.join(' ')}
  </style><body><pre>${asHtml(text.trimEnd())}</pre>`;
  await using browser = await launchBrowser();
  const page = await browser.newPage({ deviceScaleFactor: 2 });
  await page.setContent(html);
  await page.locator('body').screenshot({ path: to });
}

/** Bold, dim and colours become elements. Of a line that was drawn over, the last state is kept. */
function asHtml(text: string): string {
  let isBold = false;
  let isDim = false;
  let colour: number | undefined;
  const lines = text.split('\n').map((line) => line.slice(line.lastIndexOf('\r') + 1));
  const parts = lines.join('\n').split(escapeSequence);
  let html = '';
  for (let i = 0; i < parts.length; i += 3) {
    const [written = '', codes = '', end = ''] = parts.slice(i, i + 3);
    const classes = [isDim && 'dim', colour && `c${colour}`].filter(Boolean).join(' ');
    const escaped = written.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
    const inner = classes ? `<span class="${classes}">${escaped}</span>` : escaped;
    html += isBold ? `<b>${inner}</b>` : inner;
    if (end !== 'm') continue;
    for (const code of codes.split(';').map(Number)) {
      if (code === 0 || code === 22) isBold = isDim = false;
      if (code === 1) isBold = true;
      if (code === 2) isDim = true;
      if (code >= 30 && code <= 37) colour = code;
      if (code === 0 || code === 39) colour = undefined;
    }
  }
  return html;
}
