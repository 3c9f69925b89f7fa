/** Why a connection by TLS was given up, by this side or by the server, and what the code of such an error is like. The first counts. */
const codes = {
  untrusted: /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_|CERT_SIGNATURE_FAILURE|CERT_UNTRUSTED)/,
  otherName: /^ERR_TLS_CERT_ALTNAME_INVALID$/,
  expired: /^CERT_HAS_EXPIRED$/,
  notYetValid: /^CERT_NOT_YET_VALID$/,
  clientCertificate: /ALERT_(CERTIFICATE_REQUIRED|BAD_CERTIFICATE|HANDSHAKE_FAILURE)/,
  rejectedCertificate: /ALERT_(UNKNOWN_CA|CERTIFICATE_\w+|UNSUPPORTED_CERTIFICATE|ACCESS_DENIED)/,
  /** What replied speaks no TLS. */
  noTls: /^ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST)/,
  /** Versions or ciphers that don't fit, and whatever else. */
  failed: /^(ERR_SSL_|EPROTO)/,
};

export interface TlsFault {
  readonly kind: keyof typeof codes;
  readonly code: string;
  readonly host: string;
  /** Those that the certificate is for. */
  readonly names: string;
}

/** The properties that Node.js adds to errors of TLS. */
interface Details {
  readonly code?: string;
  readonly host?: string;
  readonly cert?: { readonly subjectaltname?: string; readonly subject?: { readonly CN?: string } };
}

/** Undefined if the error is about something else. */
export function findTlsFault(error: Error): TlsFault | undefined {
  const { code = '', host = '', cert } = error as Details;
  const kind = (Object.keys(codes) as TlsFault['kind'][]).find((one) => codes[one].test(code));
  return kind && { kind, code, host, names: cert?.subjectaltname || `CN=${cert?.subject?.CN ?? ''}` };
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
  const { kind, code, host, names } = fault;
  const explanations: Readonly<Record<typeof kind, Explained>> = {
    untrusted: { problem: 'no CA that this program trusts has signed its certificate.', fix: trust },
    otherName: {
      problem: `its certificate is for ${names}, and not for ${host}.`,
      fix: `Write the host in ${variable} as the certificate has it, or get a certificate for ${host}.`,
    },
    expired: {
      problem: 'its certificate has expired.',
      fix: 'Get it a new one, and let it read that. Is the clock of this machine right?',
    },
    notYetValid: { problem: 'its certificate is not valid yet.', fix: 'Is the clock of this machine right?' },
    clientCertificate: { problem: 'it demands a certificate of the client.', fix: clientCertificate },
    rejectedCertificate: {
      problem: 'it rejects the certificate of this client.',
      fix: `Let the certificate that ${variable} names be valid, and signed by a CA that the server trusts.`,
    },
    failed: {
      problem: `no TLS connection came about (${code}).`,
      fix: 'Let the server accept TLS 1.2 or 1.3 with usual ciphers: its log has the reason.',
    },
    noTls: { problem: 'what listens there does not speak TLS.', fix: withoutTls },
  };
  return explanations[kind];
}

/** What is wrong, and what an operator can do about it; empty if that is not known. */
export interface Explained {
  readonly problem: string;
  readonly fix: string;
}

export const problemAndFix = ({ problem, fix }: Explained): string => `${problem} ${fix}`.trim();
