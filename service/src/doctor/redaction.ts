import { withoutKeys } from '../clients/api-key.ts';

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
      .replace(/\b([a-z][a-z\d+.-]*:\/\/)[^\s/@]*@/gi, '$1…@')
      .replace(/\b(Bearer|Basic) +[\w.~+/=-]+/gi, '$1 …')
      .replace(/\b(password|passwd|secret|token|authorization)(["']?\s*[:=]\s*["']?)[^\s"',;]+/gi, '$1$2…')
      .replace(/[\w.%+'-]+@[\w-]+(\.[\w-]+)+/g, '…@…');
  };
}

/** The passwords in the addresses of servers, and every variable that is named like a secret. */
export function secretsOf(env: Environment, urls: readonly string[]): string[] {
  const named = Object.entries(env).flatMap(([name, value]) => (value && secretName.test(name) ? [value] : []));
  const withUser = Object.values(env).filter((value): value is string => /^[a-z][a-z\d+.-]*:\/\/.*@/i.test(value ?? ''));
  return [...named, ...[...urls, ...withUser].flatMap(passwordsOf)];
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
