const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** From here on the date says more than the distance. */
const RELATIVE_UP_TO = 6 * DAY;

const exact = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'long' });
const date = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' });
const dateWithYear = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short', year: 'numeric' });

/** `Nov 22, 2026, 2:05:09 PM GMT+1`, in the time zone of the browser. */
export const fullTime = (at: string): string => exact.format(new Date(at));

/** How far a moment is from now: `5 min ago`, `in 3 h`; the date from a week on. */
export function ago(at: string, now: number): string {
  const distance = now - Date.parse(at);
  const size = Math.abs(distance);
  if (size >= RELATIVE_UP_TO) {
    const moment = new Date(at);
    const isThisYear = moment.getFullYear() === new Date(now).getFullYear();
    return (isThisYear ? date : dateWithYear).format(moment);
  }
  if (size < 45_000) return distance >= 0 ? 'just now' : 'in a moment';
  const text = span(size);
  return distance > 0 ? `${text} ago` : `in ${text}`;
}

/** A duration in its largest unit: `5 min`, `3 h`, `2 days`. */
function span(ms: number): string {
  if (ms < HOUR) return `${Math.max(1, Math.round(ms / MINUTE))} min`;
  if (ms < DAY) return `${Math.round(ms / HOUR)} h`;
  const days = Math.round(ms / DAY);
  return days === 1 ? '1 day' : `${days} days`;
}
