// Shows times in the visitor's zone where the shelter's is not known. Without this script they are in UTC, and say so.
const format = { weekday: 'long', day: 'numeric', month: 'long', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' };

for (const time of document.querySelectorAll('time[data-local]'))
  time.textContent = `${new Intl.DateTimeFormat('en-GB', format).format(new Date(time.dateTime))} (your time)`;
