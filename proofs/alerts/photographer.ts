// Somebody of the store's staff who uploads photos of one animal, also over a slow line.
import { once } from 'node:events';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import sharp from 'sharp';
import type { Response } from '../../testkit/http.ts';
import type { WatchedStore } from './watched-store.ts';

export interface Photographer {
  readonly petId: number;
  /** Changes the animal's name. */
  rename(): Promise<Response>;
  /** `durationMs`: the bytes arrive over so long a time. */
  upload(photo: Buffer, durationMs?: number): Promise<Pick<Response, 'status' | 'text'>>;
}

const parts = 20;

export async function photographerOf({ store, http, url }: WatchedStore): Promise<Photographer> {
  const scopes = ['--scopes', 'pets:read,pets:write,store:manage'];
  const { key } = await store.createKey('staff', { perMinute: 1e6, perDay: 1e8 }, ...scopes);
  const added = await http.send(`${url}/pets`, { method: 'POST', key, body: { name: 'Biscuit', categoryId: 1 } });
  const { id } = JSON.parse(added.text) as { id: number };
  return {
    petId: id,
    rename: () => http.send(`${url}/pets/${id}`, { method: 'PATCH', key, body: { name: 'Rex' } }),
    upload: (photo, durationMs = 0) => send(`${url}/pets/${id}/photos`, key, photo, durationMs),
  };
}

/** Some 200 kB, and another one each time. */
export async function makePhoto(): Promise<Buffer> {
  const noise = { type: 'gaussian', mean: 128, sigma: 30 } as const;
  return sharp({ create: { width: 600, height: 400, channels: 3, background: 'tan', noise } })
    .jpeg()
    .toBuffer();
}

async function send(url: string, key: string, photo: Buffer, durationMs: number): Promise<Pick<Response, 'status' | 'text'>> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'image/jpeg', 'content-length': photo.length };
  const outgoing = request(url, { method: 'POST', headers });
  const responded = once(outgoing, 'response');
  const size = Math.ceil(photo.length / parts);
  for (let at = 0; at < photo.length; at += size) {
    outgoing.write(photo.subarray(at, at + size));
    if (durationMs > 0) await sleep(durationMs / parts);
  }
  outgoing.end();
  const [response] = await responded;
  return { status: response.statusCode, text: await text(response) };
}
