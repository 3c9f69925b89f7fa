// What every page does with JavaScript: copying code, choosing a language and a theme, and marking the section in view. Pages
// can be read without it.
const root = document.documentElement;
const copiedMs = 1_500;

showOrigin();
copyButtons();
languageButtons();
themeSwitch();
markSectionInView();

/** Examples use the address that this page came from. */
function showOrigin() {
  for (const one of document.querySelectorAll('[data-origin]')) one.textContent = location.origin;
}

function copyButtons() {
  document.addEventListener('click', ({ target }) => {
    const button = target.closest?.('[data-copy]');
    const code = button?.closest('figure')?.querySelector('pre');
    if (code) void copy(code, button);
  });
}

/** Browsers offer the clipboard only to pages with TLS or from this machine. On others the code is selected, for the reader to copy. */
async function copy(code, button) {
  try {
    await navigator.clipboard.writeText(code.textContent);
    button.dataset.copied = 'true';
    button.setAttribute('aria-label', 'Copied');
  } catch {
    getSelection().selectAllChildren(code);
    button.setAttribute('aria-label', 'Selected: press Ctrl+C');
  }
  setTimeout(() => {
    delete button.dataset.copied;
    button.setAttribute('aria-label', 'Copy');
  }, copiedMs);
}

/** The choice applies to all examples, and is remembered. */
function languageButtons() {
  const buttons = [...document.querySelectorAll('[data-choose]')];
  const show = () => {
    for (const group of document.querySelectorAll('.tabs')) {
      const languages = group.dataset.languages.split(' ');
      const shown = languages.includes(root.dataset.language) ? root.dataset.language : languages[0];
      for (const button of group.querySelectorAll('[data-choose]')) {
        button.setAttribute('aria-pressed', String(button.dataset.choose === shown));
      }
    }
  };
  for (const button of buttons) {
    button.addEventListener('click', () => {
      const topBefore = button.getBoundingClientRect().top;
      root.dataset.language = button.dataset.choose;
      remember('homeward-language', button.dataset.choose);
      show();
      // Examples above may have changed their height: keep the one that was clicked where it is.
      scrollBy({ top: button.getBoundingClientRect().top - topBefore, behavior: 'instant' });
    });
  }
  show();
}

function themeSwitch() {
  const button = document.querySelector('[data-theme-switch]');
  const themes = ['system', 'light', 'dark'];
  const show = () => button.setAttribute('aria-label', `Theme: ${root.dataset.theme ?? 'system'}`);
  button.addEventListener('click', () => {
    const next = themes[(themes.indexOf(root.dataset.theme ?? 'system') + 1) % themes.length];
    if (next === 'system') delete root.dataset.theme;
    else root.dataset.theme = next;
    remember('homeward-theme', next);
    show();
  });
  show();
}

function remember(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch {
    // Storage is blocked: the choice lasts as long as the page.
  }
}

/** Marks the link to the last section that starts above the upper third of the window. */
function markSectionInView() {
  const links = [...document.querySelectorAll('[data-sections] a')];
  const sections = links.flatMap((link) => document.getElementById(decodeURIComponent(link.hash.slice(1))) ?? []);
  if (sections.length === 0) return;
  const mark = () => {
    const line = innerHeight / 3;
    const isAtEnd = Math.ceil(scrollY + innerHeight) >= root.scrollHeight;
    const current = isAtEnd ? sections.at(-1) : sections.findLast((section) => section.getBoundingClientRect().top < line);
    for (const link of links) {
      if (current && link.hash === `#${current.id}`) link.setAttribute('aria-current', 'true');
      else link.removeAttribute('aria-current');
    }
  };
  let isWaiting = false;
  addEventListener(
    'scroll',
    () => {
      if (isWaiting) return;
      isWaiting = true;
      requestAnimationFrame(() => {
        isWaiting = false;
        mark();
      });
    },
    { passive: true },
  );
  mark();
}
