// Shows a question only to those who are asked it. Without this script every question is shown, with whom it is for.
const form = document.querySelector('form.application');
const groups = [...form.querySelectorAll('[data-if]')];

for (const field of form.querySelectorAll('[data-required]')) field.required = true;
for (const choice of form.querySelectorAll('[data-unless-guided]')) choice.remove();

form.addEventListener('change', update);
// A browser restores what was typed before this event.
addEventListener('pageshow', update);
update();

function update() {
  // In the order of the questions: whether a group is asked may depend on one before it. What is disabled is no answer, and not sent.
  for (const group of groups) {
    const isAsked = new FormData(form).get(group.dataset.if) === group.dataset.is;
    group.hidden = !isAsked;
    group.disabled = !isAsked;
  }
}
