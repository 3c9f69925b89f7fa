// `homeward` started by an older Node.js hands over to the pinned one, with the same behaviour.
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { describe, expect, inject, test } from 'vitest';
import { stillRunning } from '../../../testkit/running-processes.ts';
import { cloneTemplate } from '../databases.ts';
import { findOlderNode, homewardJson, homewardProcess, startServing } from './homeward-command.ts';

const olderNode = findOlderNode();

const env: Record<string, string> = { DATABASE_URL: await cloneTemplate(inject('postgresUrl')), REDIS_URL: inject('redisUrl') };

const starters = [
  { by: 'the pinned Node.js', node: process.execPath, older: false },
  { by: 'an older Node.js', node: olderNode, older: true },
];

describe.each(starters)('homeward started by $by', ({ node = '', older }) => {
  describe.skipIf(!node)('if it is installed', () => {
    test('passes on the output and the exit status', async () => {
      const done = await homewardProcess(['keys', 'list', '--json'], { node, env });
      expect(done).toEqual({ status: 0, stdout: expect.stringMatching(/^\[.*\]\n$/), stderr: '' });
      const wrong = await homewardProcess(['keys', 'lost'], { node, env });
      expect(wrong).toMatchObject({ status: 2, stdout: '' });
    });

    test.each([older ? 'SIGINT' : 'SIGTERM'] as const)(
      'on %s finishes requests in flight, exits with 0 and leaves no process',
      async (signal) => {
        const { key } = await homewardJson<{ key: string }>(['keys', 'create', '--client', 'Paws', '--plan', 'free'], env);
        await using serving = await startServing({ node, env });
        expect(serving.servingPid !== serving.child.pid).toBe(older);
        const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', expect: '100-continue' };
        const adding = request(`${serving.url}/v1/pets`, { method: 'POST', headers });
        adding.flushHeaders();
        await once(adding, 'continue');
        serving.child.kill(signal);
        await serving.logged('draining');
        adding.end('{"name":"Biscuit","categoryId":1}');
        const [response] = (await once(adding, 'response')) as [IncomingMessage];
        response.resume();
        expect(response.statusCode).toBe(201);
        expect(await serving.allEnded()).toBe(0);
        expect(stillRunning([serving.servingPid])).toEqual([]);
      },
    );

    test.runIf(older)('killed with SIGKILL, leaves no process', async () => {
      await using serving = await startServing({ node, env });
      serving.child.kill('SIGKILL');
      await serving.allEnded();
      expect(stillRunning([serving.servingPid])).toEqual([]);
    });
  });
});
