// What can't be undone, or stops a partner, shows its target and asks on a terminal.
import { describe, expect, test } from 'vitest';
import { addPet, adopter, createManager, placeOrder, readPet } from '../adoption-steps.ts';
import { decideAll, readApplication, submit } from '../application-steps.ts';
import { openTestStore } from '../test-store.ts';
import { homewardJson } from './homeward-command.ts';
import { homewardOnTerminal } from './on-terminal.ts';

const store = await openTestStore();
const { env } = store;
const manager = await createManager(store, { client: 'Happy Tails' });

const reply = (args: string[], keys: string) =>
  homewardOnTerminal(args, { env, columns: 200, typed: [{ after: '[y/N] ', keys: `${keys}\r` }] });

test('pets remove shows the animal, and removes it on y only', async () => {
  const { id } = await addPet(store, manager);
  const declined = await reply(['pets', 'remove', String(id)], 'n');
  expect(declined.text).toContain(`Biscuit (${id}) of Dogs (1), available\nRemove it? [y/N] n\n`);
  expect(declined.status).toBe(1);
  expect(await readPet(store, manager, id)).toBeDefined();
  const accepted = await reply(['pets', 'remove', String(id)], 'y');
  expect({ status: accepted.status, last: accepted.text.trimEnd().split('\n').at(-1) }).toEqual({
    status: 0,
    last: `Removed Biscuit (${id}).`,
  });
  expect(await readPet(store, manager, id)).toBeUndefined();
});

describe('on n, nothing is changed', () => {
  test('orders cancel and orders erase', async () => {
    const { id: petId } = await addPet(store, manager, { name: 'Zoe' });
    const { id, adopter } = await placeOrder(store, manager, petId);
    const one = await reply(['orders', 'cancel', String(id)], 'n');
    expect(one.text).toContain(
      `Order ${id} of Happy Tails (${manager.clientId}): Zoe (${petId}) for Ada Lovelace, placed\nCancel it? [y/N]`,
    );
    const all = await reply(['orders', 'cancel', '--client', 'Happy Tails', '--email', adopter?.email ?? ''], 'n');
    expect(all.text).toContain(`Every open order of Happy Tails (${manager.clientId}) for ${adopter?.email}\nCancel them? [y/N]`);
    const erased = await reply(['orders', 'erase', String(id)], 'n');
    expect(erased.text).toContain(
      `The adopter of order ${id} for Zoe (${petId}): Ada Lovelace <${adopter?.email}>\nErase name and address? [y/N]`,
    );
    const byEmail = await reply(['orders', 'erase', '--email', adopter?.email ?? ''], 'n');
    expect(byEmail.text).toContain(`${adopter?.email} in every order and application that is not open\nErase the adopter's data? [y/N]`);
    expect([one, all, erased, byEmail].map(({ status }) => status)).toEqual([1, 1, 1, 1]);
    expect(await homewardJson(['orders', 'show', String(id)], env)).toMatchObject({ status: 'placed', adopter });
  });

  test('applications accept, decline and withdraw', async () => {
    const { id: petId } = await addPet(store, manager, { name: 'Milo' });
    const [{ id }, other] = [await submit(store, manager, petId), await submit(store, manager, petId, { adopter })];
    const what = `Application ${id} of Happy Tails (${manager.clientId}): Ada Lovelace for Milo (${petId}), submitted`;
    const accept = await reply(['applications', 'accept', String(id)], 'n');
    expect(accept.text.replaceAll(/\s+/g, ' ')).toContain(
      `${what} An approved order reserves the animal. 1 other application for the animal stays open. It is closed when the order is completed. Accept it? [y/N]`,
    );
    const decline = await reply(['applications', 'decline', String(id)], 'n');
    expect(decline.text).toContain(`${what}\nDecline it? [y/N]`);
    expect(await readApplication(store, manager, id)).toMatchObject({ status: 'submitted' });
    await decideAll(store, manager, other.id, 'accept');
    const withdraw = await reply(['applications', 'withdraw', String(other.id)], 'n');
    expect(withdraw.text).toMatch(/, accepted\nOrder \d+ is cancelled with it\. Withdraw it\? \[y\/N\]/);
    expect([accept, decline, withdraw].map(({ status }) => status)).toEqual([1, 1, 1]);
    expect(await readApplication(store, manager, other.id)).toMatchObject({ status: 'accepted' });
  });

  test('keys revoke and clients suspend', async () => {
    const revoked = await reply(['keys', 'revoke', String(manager.id)], 'n');
    expect(revoked.text).toMatch(/^Key \d+ \(hw_live_\w+…\w+\) of Happy Tails \(\d+\), \w+, created \w.*\nRevoke it\? \[y\/N\]/m);
    const suspended = await reply(['clients', 'suspend', 'Happy Tails'], 'n');
    expect(suspended.text).toMatch(/^Every key and endpoint of Happy Tails \(\d+\)\nSuspend them\? \[y\/N\]/m);
    const replaced = await reply(['keys', 'rotate', String(manager.id), '--overlap', '0s'], 'n');
    expect(replaced.text).toMatch(/^Key \d+ .* of Happy Tails .*\nReplace it\? It stops working at once\. \[y\/N\]/m);
    expect([revoked.status, suspended.status, replaced.status]).toEqual([1, 1, 1]);
    expect(await homewardJson(['keys', 'list'], env)).toMatchObject([{ state: 'active' }]);
  });

  test('webhooks disable', async () => {
    const { json } = await store.call<{ id: number }>('POST', '/v1/webhooks', {
      key: manager.key,
      body: { url: 'https://example.org/hooks' },
    });
    const { status, text } = await reply(['webhooks', 'disable', String(json.id)], 'n');
    expect(text).toContain(
      `Endpoint ${json.id} of Happy Tails (${manager.clientId}), https://example.org/hooks\nStop sending to it? [y/N]`,
    );
    expect(status).toBe(1);
    expect(await homewardJson(['webhooks', 'list'], env)).toMatchObject([{ status: 'enabled' }]);
  });
});
