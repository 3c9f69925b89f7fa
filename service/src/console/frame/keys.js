/** Single keys, as the page /keys lists them. Off if somebody has said so there. */
const keysAre = {
  get on() {
    return localStorage.getItem('keys') !== 'off';
  },
  set on(isOn) {
    localStorage.setItem('keys', isOn ? 'on' : 'off');
  },
};

const isSeen = (element) => element.checkVisibility?.() ?? true;

/** The next row, or the one before. The first one if none has the focus. */
function focusRow(step) {
  const rows = [...document.querySelectorAll('[data-row]')].filter(isSeen);
  const at = rows.indexOf(document.activeElement);
  rows[at === -1 ? (step > 0 ? 0 : -1) : Math.min(Math.max(at + step, 0), rows.length - 1)]?.focus();
}

let areShown = false;

async function showKeys() {
  if (areShown) return;
  areShown = true;
  const response = await fetch('/keys');
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  const keys = page.querySelector('[data-keys]');
  if (!response.ok || !keys) {
    location.assign('/keys');
    return;
  }
  const dialog = document.createElement('dialog');
  const heading = page.querySelector('h1');
  heading.id = 'keys-heading';
  dialog.setAttribute('aria-labelledby', heading.id);
  const close = Object.assign(document.createElement('button'), { className: 'button', textContent: 'Close', autofocus: true });
  close.addEventListener('click', () => dialog.close());
  dialog.append(heading, keys, close);
  dialog.addEventListener('close', () => {
    dialog.remove();
    areShown = false;
  });
  document.body.append(dialog);
  showSetting(dialog);
  dialog.showModal();
}

/** Whether single keys are on, and a box for it. */
function showSetting(part) {
  for (const setting of part.querySelectorAll('[data-keys-setting]')) {
    setting.hidden = false;
    const box = setting.querySelector('input');
    box.checked = keysAre.on;
    box.addEventListener('change', () => (keysAre.on = box.checked));
  }
}

const keys = {
  j: () => focusRow(1),
  k: () => focusRow(-1),
  '?': () => void showKeys(),
};

addEventListener('keydown', (event) => {
  const { key, target, isComposing, ctrlKey, metaKey, altKey, defaultPrevented } = event;
  if (defaultPrevented || isComposing || ctrlKey || metaKey || altKey || !keysAre.on) return;
  if (document.querySelector('dialog[open]') || target.closest?.('input, select, textarea, [contenteditable]')) return;
  const act = keys[key];
  const marked = key === '/' || key === 'n' ? [...document.querySelectorAll(`[data-key="${key}"]`)].find(isSeen) : undefined;
  if (!act && !marked) return;
  event.preventDefault();
  if (act) act();
  else if (marked.matches('a')) marked.click();
  else marked.focus();
});
showSetting(document);
