// A certificate authority of one's own, as operators have, and certificates of servers that it signs. In a folder that the caller removes.
import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { serverUser } from './servers.ts';

export interface ServerCertificate {
  readonly certificate: string;
  readonly key: string;
}

export interface CertificateAuthority extends Disposable {
  /** The file with its certificate. */
  readonly certificate: string;
  /** A certificate for these names, such as `DNS:db.example,IP:127.0.0.1`. With 0 days, it has expired a second later. */
  issue(name: string, altNames: string, days?: number): ServerCertificate;
}

const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

export function makeAuthority(): CertificateAuthority {
  const folder = mkdtempSync(path.join(tmpdir(), 'homeward-ca-'));
  // PostgreSQL runs as another user.
  chmodSync(folder, 0o755);
  const at = (name: string) => path.join(folder, name);
  const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: ['ignore', 'ignore', 'pipe'] });
  const root = ['-keyout', at('ca.key'), '-out', at('ca.pem'), '-days', '2', '-subj', '/CN=Homeward test CA'];
  openssl('req', '-x509', ...newKey, ...root);
  return {
    certificate: at('ca.pem'),
    issue(name, altNames, days = 1) {
      const [key, certificate, extensions] = [at(`${name}.key`), at(`${name}.pem`), at(`${name}.cnf`)];
      writeFileSync(extensions, `subjectAltName=${altNames}\n`);
      openssl('req', ...newKey, '-keyout', key, '-out', at(`${name}.csr`), '-subj', `/CN=${name}`);
      const signer = ['-CA', at('ca.pem'), '-CAkey', at('ca.key'), '-CAcreateserial'];
      openssl('x509', '-req', '-in', at(`${name}.csr`), ...signer, '-days', String(days), '-extfile', extensions, '-out', certificate);
      // PostgreSQL rejects a key that others may read.
      chmodSync(key, 0o600);
      const user = serverUser();
      if (user) chownSync(key, user.uid, user.gid);
      return { certificate, key };
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true }),
  };
}
