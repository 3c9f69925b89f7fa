// What a person sends from pages of the console, again and again, until it is kept out.
import { randomBytes } from 'node:crypto';
import { HttpClient } from '../../testkit/http.ts';
import type { SignedIn } from './ends.ts';
import { newImage } from './key-acts.ts';

/** At most so many of each: a person may do 60 acts in a minute. */
const actsMax = 9;

interface Sent {
  readonly path: string;
  readonly fields?: Readonly<Record<string, string>>;
  readonly raw?: Buffer;
}

/** `isLowered`: only what a volunteer may not do, since a lesser role goes on with the rest. */
export function personActs(
  { cookie, formToken, petId }: SignedIn,
  url: string,
  { done, isLowered }: { readonly done: { acts: number }; readonly isLowered: boolean },
): Array<Promise<void>> {
  const animal = `/animals/${petId}`;
  const kinds: ReadonlyArray<(n: number) => Sent> = [
    (n) => ({ path: `${animal}/name/save`, fields: { name: `Biscuit ${n}`, categoryId: '1' } }),
    (n) => ({ path: '/animals/add', fields: { name: `Crumb ${n}`, categoryId: '1' } }),
    (n) => ({
      path: `${animal}/hold/save`,
      fields: { reason: n % 2 === 0 ? 'medical' : 'other', until: '2031-05-01', note: String(n) },
    }),
    (n) => ({ path: `${animal}/profile/save`, fields: { summary: `Number ${n}` } }),
    () => ({ path: `${animal}/photos/file`, raw: newImage() }),
    () => ({ path: `${animal}/photos/file`, raw: newImage() }),
  ];
  return (isLowered ? kinds.filter((_, i) => i === 0 || i === 2) : kinds).map(async (next) => {
    using http = new HttpClient();
    for (let i = 0; i < actsMax; i += 1) {
      const { path, fields, raw } = next(i);
      const body = raw ?? String(new URLSearchParams({ ...fields, _token: formToken, _form: randomBytes(16).toString('base64url') }));
      const type = raw ? 'image/jpeg' : 'application/x-www-form-urlencoded';
      const headers = { cookie, 'sec-fetch-site': 'same-origin', 'x-form-token': formToken, 'content-type': type };
      const { status } = await http.send(`${url.replace('localhost', '127.0.0.1')}${path}`, { method: 'POST', raw: body, headers });
      if (status === 401 || status === 403) return;
      if (status < 400) done.acts += 1;
    }
  });
}
