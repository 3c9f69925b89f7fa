/** Why a connection by TLS was given up, by this side or by the server. */
export type TlsFault =
  | { readonly kind: 'untrusted' }
  | { readonly kind: 'otherName'; readonly names: string; readonly host: string }
  | { readonly kind: 'expired' }
  | { readonly kind: 'notYetValid' }
  | { readonly kind: 'clientCertificate' }
  | { readonly kind: 'rejectedCertificate' }
  /** What replied speaks no TLS. */
  | { readonly kind: 'noTls' }
  /** Versions or ciphers that don't fit, and whatever else. */
  | { readonly kind: 'failed'; readonly code: string };

/** The properties that Node.js adds to errors of TLS. */
interface Details {
  readonly code?: string;
  readonly host?: string;
  readonly cert?: { readonly subjectaltname?: string; readonly subject?: { readonly CN?: string } };
}

/** Undefined if the error is about something else. */
export function findTlsFault(error: Error): TlsFault | undefined {
  const { code = '', host = '', cert } = error as Details;
  if (/^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_|CERT_SIGNATURE_FAILURE|CERT_UNTRUSTED)/.test(code))
    return { kind: 'untrusted' };
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return { kind: 'otherName', names: cert?.subjectaltname || `CN=${cert?.subject?.CN ?? ''}`, host };
  if (code === 'CERT_HAS_EXPIRED') return { kind: 'expired' };
  if (code === 'CERT_NOT_YET_VALID') return { kind: 'notYetValid' };
  if (/ALERT_(CERTIFICATE_REQUIRED|BAD_CERTIFICATE|HANDSHAKE_FAILURE)/.test(code)) return { kind: 'clientCertificate' };
  if (/ALERT_(UNKNOWN_CA|CERTIFICATE_\w+|UNSUPPORTED_CERTIFICATE|ACCESS_DENIED)/.test(code)) return { kind: 'rejectedCertificate' };
  if (/^ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST)/.test(code)) return { kind: 'noTls' };
  return /^(ERR_SSL_|EPROTO)/.test(code) ? { kind: 'failed', code } : undefined;
}

interface Words {
  /** The variable that has the host. */
  readonly variable: 'DATABASE_URL' | 'REDIS_URL';
  /** What to do about a CA that is not trusted. */
  readonly trust: string;
  readonly clientCertificate: string;
  readonly withoutTls: string;
}

/** In words for an operator. The problem is the rest of a sentence about the server. */
export function explainTlsFault(fault: TlsFault, { variable, trust, clientCertificate, withoutTls }: Words): Explained {
  switch (fault.kind) {
    case 'untrusted':
      return { problem: 'no CA that this program trusts has signed its certificate.', fix: trust };
    case 'otherName':
      return {
        problem: `its certificate is for ${fault.names}, and not for ${fault.host}.`,
        fix: `Write the host in ${variable} as the certificate has it, or get a certificate for ${fault.host}.`,
      };
    case 'expired':
      return {
        problem: 'its certificate has expired.',
        fix: 'Get it a new one, and let it read that. Is the clock of this machine right?',
      };
    case 'notYetValid':
      return { problem: 'its certificate is not valid yet.', fix: 'Is the clock of this machine right?' };
    case 'clientCertificate':
      return { problem: 'it demands a certificate of the client.', fix: clientCertificate };
    case 'rejectedCertificate':
      return {
        problem: 'it rejects the certificate of this client.',
        fix: `Let the certificate that ${variable} names be valid, and signed by a CA that the server trusts.`,
      };
    case 'failed':
      return {
        problem: `no TLS connection came about (${fault.code}).`,
        fix: 'Let the server accept TLS 1.2 or 1.3 with usual ciphers: its log has the reason.',
      };
    case 'noTls':
      return { problem: 'what listens there does not speak TLS.', fix: withoutTls };
  }
}

/** What is wrong, and what an operator can do about it; empty if that is not known. */
export interface Explained {
  readonly problem: string;
  readonly fix: string;
}
