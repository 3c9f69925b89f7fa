// A day of a small shelter that has no program of its own: everything by command.
import { expect, inject, test } from 'vitest';
import { createDatabase } from '../databases.ts';
import { homeward, homewardJson } from './homeward-command.ts';

test('an animal comes in, is adopted, returned, and adopted again, by commands alone; verify holds', async () => {
  const env = {
    DATABASE_URL: await createDatabase(inject('postgresUrl'), { name: `shelter_${process.pid}_${Date.now()}` }),
    REDIS_URL: inject('redisUrl'),
  };
  const run = async (...args: string[]) => {
    const { status, stdout, stderr } = await homeward(args, { env });
    if (status !== 0) throw new Error(`homeward ${args.join(' ')} ended with status ${status}: ${stderr}`);
    return stdout;
  };
  const place = (adopter: string, email: string) =>
    homewardJson<{ id: number }>(['orders', 'place', '1', '--adopter', adopter, '--email', email, '--client', 'Front desk'], env);

  await run('migrate');
  await run('keys', 'create', '--client', 'Front desk', '--plan', 'free');
  expect(await run('pets', 'list')).toBe('There are no animals. Add one: homeward pets add\n');
  expect(await run('pets', 'add', '--name', 'Biscuit', '--category', 'Dogs')).toBe('Added Biscuit (1) to Dogs (1). It is available.\n');
  expect(await run('pets', 'add', '--name', 'Bisquit', '--category', 'Dogs')).toContain('Added Bisquit (2)');
  expect(await run('pets', 'remove', '2')).toBe('Removed Bisquit (2).\n');

  const first = await place('Ada Lovelace', 'ada@example.org');
  const shown = await run('orders', 'show', String(first.id));
  // Each command that is shown as a next step is legal.
  const [, approve = ''] = /^ {2}homeward (orders approve \d+)$/m.exec(shown) ?? [];
  expect(await run(...approve.split(' '))).toBe('Order 1 is approved. Biscuit (1) is pending.\n');
  expect(await run('orders', 'complete', '1')).toBe('Order 1 is completed. Biscuit (1) is sold.\n');
  expect(await run('orders', 'return', '1')).toBe('Order 1 is returned. Biscuit (1) is available.\n');
  await place('Grace Hopper', 'grace@example.org');
  expect(await run('orders', 'cancel', '2')).toBe('Order 2 is cancelled. Biscuit (1) is available.\n');
  await place('Mary Jackson', 'mary@example.org');
  await run('orders', 'approve', '3');
  await run('orders', 'complete', '3');

  expect(await homewardJson(['orders', 'list'], env)).toMatchObject([
    { id: 1, status: 'returned', pet: 'Biscuit', adopter: { name: 'Ada Lovelace' } },
    { id: 2, status: 'cancelled' },
    { id: 3, status: 'completed', client: 'Front desk', actions: ['return'] },
  ]);
  expect(await homewardJson(['pets', 'list'], env)).toEqual([
    { id: 1, name: 'Biscuit', categoryId: 1, category: 'Dogs', status: 'sold', orderId: null },
  ]);
  expect(await run('verify')).toContain('No animal ever had two open orders at once');
});
