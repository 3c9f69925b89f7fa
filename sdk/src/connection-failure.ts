/** Why there was no response, in words, and what to check. */
interface Reason {
  readonly codes: RegExp;
  readonly what: string;
  readonly check: string;
}

const reasons: readonly Reason[] = [
  {
    codes: /^ECONNREFUSED$/,
    what: 'does not accept connections',
    check: 'Check that the store is running, and the host and port in its URL.',
  },
  {
    codes: /^(ENOTFOUND|EAI_\w+|ENODATA)$/,
    what: 'is a host name that could not be resolved',
    check: 'Check its spelling in the URL of the store, and your DNS.',
  },
  {
    codes: /^(EHOSTUNREACH|ENETUNREACH|ENETDOWN|EADDRNOTAVAIL)$/,
    what: "can't be reached from here",
    check: 'Check your network, and the host in the URL of the store.',
  },
  {
    codes: /^(ETIMEDOUT|UND_ERR_\w+_TIMEOUT)$/,
    what: "didn't respond in time",
    check: 'Check the host and port in the URL of the store, and any firewall on the way.',
  },
  {
    codes: /^(ECONNRESET|EPIPE|UND_ERR_SOCKET|ConnectionClosed)$/,
    what: 'closed the connection before the response was complete',
    check: 'Check any proxy in front of the store.',
  },
  {
    codes: /CERT|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER/,
    what: 'has a TLS certificate that is not trusted here',
    check: 'Check the host in the URL of the store, and its certificate.',
  },
  {
    codes: /^(ERR_SSL_\w+|EPROTO)$/,
    what: "doesn't speak TLS",
    check: 'If the store has none, as on your own machine, its URL starts with http://.',
  },
  {
    codes: /^HPE_\w+$/,
    what: "doesn't speak HTTP",
    check: 'Check the port, and whether the URL of the store must start with https://.',
  },
];

const depthMax = 5;

interface Cause {
  readonly message?: unknown;
  readonly code?: unknown;
  readonly cause?: unknown;
}

/** The runtime's code for the failure of a request, such as ECONNREFUSED. Undefined if it has none, as in a browser. */
export function codeOf(error: unknown): string | undefined {
  return causesOf(error)
    .map(({ code }) => code)
    .findLast((code) => typeof code === 'string');
}

export function explainFailure(href: string, error: unknown): string {
  const { host } = new URL(href);
  const code = codeOf(error);
  const known = code && reasons.find(({ codes }) => codes.test(code));
  if (known) return `${host} ${known.what} (${code}). ${known.check}`;
  const message = causesOf(error)
    .map((one) => one.message)
    .findLast((one): one is string => typeof one === 'string' && one !== '');
  return `${host} could not be reached${message ? `: ${message.replace(/\.$/, '')}` : ''}. Check the URL of the store and the network.`;
}

/** The error, its cause, the cause of that, and so on. Not by `instanceof`: test runners have an Error of their own. */
function causesOf(error: unknown): Cause[] {
  const causes: Cause[] = [];
  for (let next = error; typeof next === 'object' && next !== null && causes.length < depthMax; next = (next as Cause).cause) {
    causes.push(next);
  }
  return causes;
}
