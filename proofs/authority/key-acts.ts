// Everything that a key can write, as lives of what it writes, so that each operation has something to act on.
import { randomBytes } from 'node:crypto';

/** Sends an operation of the matrix, counts it, and returns its response. Throws once the key is rejected. */
export type Act = (operation: string, ids: Readonly<Record<string, number>>, body?: unknown) => Promise<{ readonly id: number }>;

export type Life = (act: Act) => Promise<void>;

/** Any bytes behind the first ones of a JPEG: each is a photo of its own, and nobody decodes it. */
export const newImage = (): Buffer => Buffer.concat([Buffer.from('ffd8ffe000104a46494600010100', 'hex'), randomBytes(400)]);

let adopters = 0;
const newAdopter = () => {
  adopters += 1;
  return { name: 'Ada Lovelace', email: `ada.${adopters}@example.org` };
};
const newAnimal = { name: 'Biscuit', categoryId: 1 };
const unusedUrl = 'http://127.0.0.1:9/hooks';
let categories = 1_000_000;

export const lives: readonly Life[] = [
  async (act) => {
    const { id: petId } = await act('post /pets', {}, newAnimal);
    await act('patch /pets/{petId}', { petId }, { name: 'Biscuit II' });
    await act('put /pets/{petId}/profile', { petId }, { sex: 'female' });
    await act('patch /pets/{petId}/profile', { petId }, { sex: 'male' });
    await act('put /pets/{petId}/hold', { petId }, { reason: 'medical' });
    await act('delete /pets/{petId}/hold', { petId });
    await act('put /pets/{petId}/shelter', { petId }, { shelterId: 2 });
    await act('delete /pets/{petId}', { petId });
  },
  async (act) => {
    for (const last of ['complete', 'cancel']) {
      const { id: petId } = await act('post /pets', {}, newAnimal);
      const { id: orderId } = await act('post /store/orders', {}, { petId, adopter: newAdopter() });
      if (last === 'complete') await act('post /store/orders/{orderId}/approve', { orderId });
      await act(`post /store/orders/{orderId}/${last}`, { orderId });
      if (last === 'complete') await act('post /store/orders/{orderId}/return', { orderId });
    }
  },
  async (act) => {
    const { id: petId } = await act('post /pets', {}, newAnimal);
    await act('put /pets/{petId}/shelter', { petId }, { shelterId: 2 });
    const apply = async () => (await act('post /applications', {}, { petId, adopter: newAdopter(), confirmed: true })).id;
    const [chosen, other, last] = [await apply(), await apply(), await apply()];
    await act('post /applications/{applicationId}/review', { applicationId: chosen });
    await act('patch /applications/{applicationId}', { applicationId: chosen }, { note: 'Has a garden.' });
    await act('post /applications/{applicationId}/decline', { applicationId: other }, {});
    await act('post /applications/{applicationId}/reopen', { applicationId: other });
    await act('post /applications/{applicationId}/withdraw', { applicationId: last });
    await act('post /applications/{applicationId}/accept', { applicationId: chosen });
  },
  async (act) => {
    const { id: webhookId } = await act('post /webhooks', {}, { url: unusedUrl });
    await act('patch /webhooks/{webhookId}', { webhookId }, { status: 'disabled' });
    await act('patch /webhooks/{webhookId}', { webhookId }, { status: 'enabled' });
    await act('post /webhooks/{webhookId}/rotate-secret', { webhookId });
    await act('post /webhooks/{webhookId}/test', { webhookId });
    await act('post /webhooks/{webhookId}/replay', { webhookId }, { failed: true });
    await act('delete /webhooks/{webhookId}', { webhookId });
  },
  async (act) => {
    const { id: petId } = await act('post /pets', {}, newAnimal);
    const { id: photoId } = await act('post /pets/{petId}/photos', { petId }, newImage());
    await act('patch /pets/{petId}/photos/{photoId}', { petId, photoId }, { alt: 'On the sofa' });
    await act('delete /pets/{petId}/photos/{photoId}', { petId, photoId });
    await act('post /pets/{petId}/outcome', { petId }, { type: 'other' });
    await act('delete /pets/{petId}/outcome', { petId });
  },
  async (act) => {
    const { id: shelterId } = await act('post /shelters', {}, { name: 'Danube' });
    await act('patch /shelters/{shelterId}', { shelterId }, { phone: '+43 1 123' });
    await act('put /shelters/{shelterId}/questions', { shelterId }, { questions: [] });
    await act('patch /site', {}, { imprint: `Danube ${shelterId}` });
    categories += 1;
    const categoryId = categories;
    const { id: petId } = await act('post /pets', {}, { ...newAnimal, categoryId });
    await act('delete /pets/{petId}', { petId });
    await act('put /categories/{categoryId}', { categoryId: categoryId + 1_000_000 }, { name: `Category ${categoryId}` });
  },
];

/** They write, and are not tried: a category that was used by an animal is never deleted, and only a store with mail has unconfirmed applications. */
export const untried: readonly string[] = ['delete /categories/{categoryId}', 'delete /applications/{applicationId}'];
