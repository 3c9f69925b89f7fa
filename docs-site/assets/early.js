// Runs before the page is drawn, so that nothing changes in front of the reader: applies the stored theme and language.
const root = document.documentElement;
root.classList.add('js');
try {
  const theme = localStorage.getItem('homeward-theme');
  if (theme === 'light' || theme === 'dark') root.dataset.theme = theme;
  root.dataset.language = localStorage.getItem('homeward-language') ?? 'sh';
} catch {
  // Storage is blocked: the page follows the system and shows the first language.
  root.dataset.language = 'sh';
}
