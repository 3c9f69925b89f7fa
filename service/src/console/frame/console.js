// Everything works without this file, except passkeys.

/** Passkeys: the buttons are hidden until it is known that this browser has them. */
const texts = {
  InvalidStateError: 'This device already has a passkey for you. Use it to sign in.',
  NotAllowedError: 'Nothing was signed: the request was cancelled, or took too long. Try again.',
  SecurityError: 'Passkeys belong to the address of the console. Open it by its usual address.',
};

async function send(url, token, body) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json', 'x-form-token': token ?? '' },
    body: JSON.stringify(body),
  });
  const received = await response.json().catch(() => ({ message: 'The console did not respond. Try again.' }));
  if (!response.ok) throw new Error(received.message);
  return received;
}

const ceremonies = {
  async create({ url, token, name }) {
    const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(await send(`${url}/options`, token, {}));
    const credential = await navigator.credentials.create({ publicKey });
    return send(url, token, { name, response: credential.toJSON() });
  },
  async get({ url, token, to }) {
    const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(await send(`${url}/options`, token, {}));
    const credential = await navigator.credentials.get({ publicKey });
    return send(url, token, { to, response: credential.toJSON() });
  },
};

for (const part of document.querySelectorAll('[data-passkey]')) {
  const { passkey, url, token, to } = part.dataset;
  if (!globalThis.PublicKeyCredential?.parseRequestOptionsFromJSON) continue;
  part.hidden = false;
  const button = part.querySelector('button');
  const message = part.querySelector('[role=alert]');
  const sign = async () => {
    button.disabled = true;
    message.hidden = true;
    try {
      const name = part.querySelector('input')?.value;
      const { next } = await ceremonies[passkey]({ url, token, to, name });
      location.assign(next);
    } catch (error) {
      message.textContent = texts[error.name] ?? error.message;
      message.hidden = false;
      button.disabled = false;
    }
  };
  button.addEventListener('click', () => void sign());
}

const lockMs = 10_000;

/** A second press of a button sends nothing: the first is on its way. The store would show the first result anyway. */
document.addEventListener('submit', ({ target }) => {
  const buttons = [...target.querySelectorAll('button:enabled')];
  const lock = (isLocked) => {
    for (const button of buttons) button.disabled = isLocked;
  };
  setTimeout(lock, 0, true);
  // On a slow line somebody may stop the browser, which tells nobody, and send the form again.
  setTimeout(lock, lockMs, false);
});
// A page that comes back from the cache of the browser can be sent again.
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) for (const button of document.querySelectorAll('button:disabled')) button.disabled = false;
});

for (const button of document.querySelectorAll('[data-print]')) {
  button.hidden = false;
  button.addEventListener('click', () => print());
}
