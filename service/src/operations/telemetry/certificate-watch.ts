import { isIP } from 'node:net';
import { connect } from 'node:tls';

const timeoutMs = 5_000;

/** Looks at the certificate that callers of the API see. */
export class CertificateWatch {
  readonly #url: URL | null;
  /** As it was last seen. Undefined: not seen yet. */
  expiresAtSeconds: number | undefined;

  /** Empty, or not https: there is no certificate to look at. */
  constructor(publicUrl: string) {
    this.#url = publicUrl.startsWith('https://') ? URL.parse(publicUrl) : null;
  }

  get isKnown(): boolean {
    return this.#url !== null;
  }

  /** A job: it never finds more to do at once. */
  async look(ending?: AbortSignal): Promise<0> {
    if (!this.#url) return 0;
    const { validTo } = await readCertificate(this.#url, ending);
    this.expiresAtSeconds = validTo.getTime() / 1_000;
    return 0;
  }
}

export interface SeenCertificate {
  /** Undefined: it is trusted, and for this name. */
  readonly problem: string | undefined;
  readonly validTo: Date;
}

/** Shakes hands and closes: no request is sent, so nothing can redirect it. Rejects with a TimeoutError after some seconds. */
export async function readCertificate(url: URL, ending?: AbortSignal): Promise<SeenCertificate> {
  const signal = AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(ending ? [ending] : [])]);
  signal.throwIfAborted();
  const [host, port] = [url.hostname.replace(/^\[|\]$/g, ''), Number(url.port || 443)];
  // Not rejected here: this asks for the date, also of a certificate that has expired or that a private authority has signed.
  const socket = connect({ host, port, rejectUnauthorized: false, ...(isIP(host) === 0 && { servername: host }) });
  const end = () => socket.destroy(signal.reason as Error);
  signal.addEventListener('abort', end, { once: true });
  try {
    await new Promise<void>((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject));
    const certificate = socket.getPeerX509Certificate();
    if (!certificate) throw new Error(`${host}:${port}, the address in HOMEWARD_PUBLIC_URL, has sent no certificate`);
    return { problem: socket.authorized ? undefined : String(socket.authorizationError), validTo: certificate.validToDate };
  } finally {
    signal.removeEventListener('abort', end);
    socket.destroy();
  }
}
