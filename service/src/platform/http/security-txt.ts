import type { FastifyInstance } from 'fastify';
import type { Clock } from '../clock.ts';
import type { Config } from '../config.ts';

interface Parts {
  readonly clock: Clock;
  readonly config: Pick<Config, 'securityContact'>;
}

const dayMs = 86_400_000;
/** RFC 9116 recommends less than a year. */
const validDays = 180;

/** Where to report a vulnerability (RFC 9116). */
export function addSecurityTxt(app: FastifyInstance, { clock, config: { securityContact } }: Parts): void {
  app.get('/.well-known/security.txt', { schema: { hide: true } }, (_, reply) => {
    reply.type('text/plain; charset=utf-8');
    if (securityContact === '') {
      return reply.status(404).send('This store has no security contact. Its operator can set HOMEWARD_SECURITY_CONTACT.\n');
    }
    // Counted from midnight, so that the text is the same all day.
    const expires = new Date((Math.floor(clock.now() / dayMs) + validDays) * dayMs).toISOString().replace('.000Z', 'Z');
    return reply
      .header('cache-control', 'public, max-age=3600')
      .send(`Contact: ${securityContact}\nExpires: ${expires}\nPreferred-Languages: en\n`);
  });
}
