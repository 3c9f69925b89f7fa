import type { Tracing } from '../../platform/tracing/tracing.ts';
import type { Exchange, Message } from './safe-sender.ts';

interface Sender {
  send(message: Message, ending?: AbortSignal): Promise<Exchange>;
}

/** A sender with a span for each request that is sampled. The receiver gets its `traceparent`. The path may be a secret: only the host is told. */
export const tracedSender = (sender: Sender, tracing: Tracing): Sender => ({
  send: (message, ending) => {
    const { hostname: host = '' } = URL.parse(message.url) ?? {};
    const attributes = { 'http.request.method': 'POST', 'server.address': host, 'homeward.event_id': message.headers['webhook-id'] ?? '' };
    return tracing.sending('POST webhook', attributes, (headers) =>
      sender.send({ ...message, headers: { ...message.headers, ...headers } }, ending),
    );
  },
});
