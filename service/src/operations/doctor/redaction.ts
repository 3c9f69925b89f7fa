import { open } from 'node:fs/promises';
import { withoutKeys } from '../../domain/token-formats.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const secretName = /(PASSWORD|PASSWD|PASSPHRASE|SECRET|TOKEN|CREDENTIALS?|_KEY|_AUTH)$/i;
/** A shorter one would redact parts of ordinary words. */
const secretLengthMin = 6;
/** As a password, such a word would be betrayed by the gaps that it leaves. In an address it is redacted all the same. */
const ownWords: ReadonlySet<string> = new Set([
  'postgres',
  'postgresql',
  'homeward',
  'homeward_api',
  'homeward_app',
  'localhost',
  'default',
]);

/** Removes from a text what must not leave the operator's hands: keys, passwords, secrets of endpoints, and addresses of people. */
export function redactor(secrets: readonly string[]): (text: string) => string {
  const longestFirst = [...new Set(secrets)]
    .filter((secret) => secret.length >= secretLengthMin && !ownWords.has(secret))
    .sort((a, b) => b.length - a.length);
  return (text) => {
    const withoutKnown = longestFirst.reduce((rest, secret) => rest.replaceAll(secret, '…'), text);
    return withoutKeys(withoutKnown)
      .replace(/whsec_[\w+/=-]+/g, 'whsec_…')
      .replace(/\b([a-z][a-z\d+.-]{0,30}:\/\/)[^\s/@]*@/gi, '$1…@')
      .replace(/\b(Bearer|Basic) +[\w.~+/=-]+/gi, '$1 …')
      .replace(/\b(password|passwd|secret|token|authorization)(["']?\s*[:=]\s*["']?)[^\s"',;]+/gi, '$1$2…')
      .replace(emailAddress, '…@…');
  };
}

/**
 * An e-mail address in any script, also with its @ percent-encoded. In linear time: a match begins only where a run of characters of
 * a local part begins, and no two neighbouring parts match the same character.
 */
const emailAddress = (() => {
  const inLocal = "[\\p{L}\\p{M}\\p{N}\\u200c\\u200d.!#$%&'*+/=?^_`{|}~-]";
  const label = '[\\p{L}\\p{M}\\p{N}\\u200c\\u200d_-]+';
  return new RegExp(`(?<!${inLocal})${inLocal}+(?:[@＠]|%40)${label}(?:[.。．｡]${label})+`, 'giu');
})();

/**
 * Removes the values from the message of an error. PostgreSQL and V8 write what a caller has sent, such as the name of an adopter,
 * between double quotes, and PostgreSQL also in brackets after =. Quoted names of the store's own things stay.
 */
export function withoutValues(message: string): string {
  const begin = [...message.matchAll(quotedNameOrQuote)].find(([found]) => found === '"')?.index;
  const end = message.lastIndexOf('"');
  // Up to the last quote, since a value may contain quotes. One that was cut off has no end.
  const unquoted = begin === undefined ? message : `${message.slice(0, begin)}"…"${end > begin ? message.slice(end + 1) : ''}`;
  return unquoted.replace(/=\(.*/s, '=(…)');
}

const quotedNameOrQuote =
  /\b(?:relation|table|column|constraint|index|function|schema|database|role|user|sequence|trigger|extension|parameter|partition) "[^"]*"|"/g;

/**
 * Removes comments from SQL, and everything from the first string on. Of the statements that it has measured, PostgreSQL almost always
 * shows $1 in place of a constant: then there is none.
 */
export const withoutStrings = (sql: string): string =>
  sql
    .replace(/\/\*.*?(?:\*\/|$)/gs, '')
    .replace(/--.*/g, '')
    .replace(/(?:'|\$(?:[a-z_]\w*)?\$).*/is, "'…");

/** The passwords in the addresses of servers, and every variable that is named like a secret, as it is and as it is in a URL. */
export function secretsOf(env: Environment, urls: readonly string[]): string[] {
  const named = Object.entries(env).flatMap(([name, value]) => (value && secretName.test(name) ? [value, ...value.split(/[\r\n]+/)] : []));
  const withUser = Object.values(env).filter((value): value is string => /^[a-z][a-z\d+.-]*:\/\/.*@/i.test(value ?? ''));
  const secrets = [...named, ...[...urls, ...withUser].flatMap(passwordsOf)];
  return [...secrets, ...secrets.map(encodeURIComponent)];
}

/** A secret is short; of a file that is longer, this much is read. */
const secretFileBytesMax = 65_536;

/** The variables, and what is in the files that variables such as X_FILE name, as the variable X. */
export async function withSecretFiles(env: Environment): Promise<Environment> {
  const files = Object.entries(env).flatMap(([name, file]) =>
    file && /._FILE$/i.test(name) ? [[name.slice(0, -'_FILE'.length), file] as const] : [],
  );
  // The last field of each line is a password: libpq's format.
  const passwords = env['PGPASSFILE'] ? (await readStart(env['PGPASSFILE'])).replaceAll(/^.*:/gm, '') : '';
  const contents = await Promise.all(files.map(async ([name, file]) => [name, (await readStart(file)).trim()] as const));
  return { ...Object.fromEntries(contents), PGPASSFILE_PASSWORD: passwords, ...env };
}

/** Empty if it can't be read: then this process knows nothing of what is in it. */
async function readStart(file: string): Promise<string> {
  try {
    await using opened = await open(file, 'r');
    if (!(await opened.stat()).isFile()) return '';
    const { buffer, bytesRead } = await opened.read({ buffer: Buffer.alloc(secretFileBytesMax) });
    return buffer.toString('utf8', 0, bytesRead);
  } catch {
    return '';
  }
}

/** Also of an address that can't be parsed: then everything up to the last @. */
function passwordsOf(url: string): string[] {
  const userinfo = /^[a-z][a-z\d+.-]*:\/\/(.*)@/is.exec(url)?.[1];
  const parameters = [...url.matchAll(/[?&]password=([^&]*)/gi)].map(([, value = '']) => value);
  const password = userinfo?.includes(':') ? [userinfo.slice(userinfo.indexOf(':') + 1)] : [];
  return [...password, ...parameters].flatMap((text) => [text, decoded(text)]);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
