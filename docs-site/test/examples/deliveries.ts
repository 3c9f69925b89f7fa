import { connect } from 'node:net';
import { Deliverer } from '../../../service/src/changes/delivery/deliverer.ts';
import { SafeSender } from '../../../service/src/changes/delivery/safe-sender.ts';
import { publishAll } from '../../../service/test/event-steps.ts';
import { deliveriesOf, until } from '../../../service/test/webhook-work.ts';
import type { World } from './world.ts';

/** Publishes and sends what is pending for endpoint 1, like a worker. Its host leads to the partner's server. */
export async function deliverAll({ store, partner, receiver }: World): Promise<void> {
  await publishAll(store);
  const sender = new SafeSender({
    toLoopback: false,
    resolve: async () => ['93.184.216.34'],
    dial: (_, callback) => {
      const socket = connect(Number(new URL(receiver.url).port), '127.0.0.1', () => callback(null, socket));
      socket.once('error', (error) => callback(error, null));
    },
  });
  const failures: unknown[] = [];
  const deliverer = new Deliverer({
    db: store.dependencies.db,
    sender,
    onDisabled: () => {},
    onError: (error) => failures.push(error),
  });
  const stopping = new AbortController();
  const running = deliverer.run(stopping.signal);
  try {
    await until(
      () => deliveriesOf(store, partner, 1),
      (deliveries) => deliveries.every(({ status }) => status === 'delivered'),
    );
  } finally {
    stopping.abort();
    await running;
    await sender.close();
  }
  if (failures.length > 0) throw failures[0];
}
