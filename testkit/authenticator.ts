// A passkey without a device: it signs what a console asks for, as a browser sends it.
import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';

export interface SoftPasskey {
  readonly credentialId: Buffer;
  /** As COSE has it: a key of the curve P-256. */
  readonly publicKey: Buffer;
  /** The body of the request with the signature. `counter`: of its signatures; 0: it counts none. */
  respond(challenge: string, origin: string, counter?: number): string;
}

const userWasThereAndVerified = 0x05;

export function makePasskey(): SoftPasskey {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
  const credentialId = randomBytes(32);
  const id = credentialId.toString('base64url');
  return {
    credentialId,
    publicKey: Buffer.concat([
      Buffer.from('a5010203262001215820', 'hex'),
      Buffer.from(x, 'base64url'),
      Buffer.from('225820', 'hex'),
      Buffer.from(y, 'base64url'),
    ]),
    respond(challenge, origin, counter = 0) {
      const clientData = Buffer.from(JSON.stringify({ type: 'webauthn.get', challenge, origin, crossOrigin: false }));
      const host = createHash('sha256').update(new URL(origin).hostname).digest();
      const count = Buffer.alloc(4);
      count.writeUInt32BE(counter);
      const data = Buffer.concat([host, Buffer.of(userWasThereAndVerified), count]);
      const signature = sign('sha256', Buffer.concat([data, createHash('sha256').update(clientData).digest()]), privateKey);
      const [authenticatorData, clientDataJSON, signed] = [data, clientData, signature].map((bytes) => bytes.toString('base64url'));
      const response = { authenticatorData, clientDataJSON, signature: signed };
      return JSON.stringify({ response: { id, rawId: id, type: 'public-key', clientExtensionResults: {}, response } });
    },
  };
}
