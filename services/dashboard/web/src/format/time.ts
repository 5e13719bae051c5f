const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** From here on the date says more than the distance. */
const RELATIVE_UP_TO = 6 * DAY;

const exact = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'long' });
const date = new Intl.DateTimeFormat('en', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
});
const dateWithYear = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short', year: 'numeric' });
const toTheSecond = new Intl.DateTimeFormat('en', {
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
});

/** `Nov 22, 2026, 2:05:09 PM GMT+1`, in the time zone of the browser. */
export const fullTime = (at: string): string => exact.format(new Date(at));

/** `Nov 22, 14:05:09` */
export const exactTime = (at: string): string => toTheSecond.format(new Date(at));

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

/** A duration with the precision that is read at a glance: `740 ms`, `4.2 s`, `2 min 5 s`. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${(ms / 1_000).toFixed(1)} s`;
  if (ms < MINUTE) return `${Math.round(ms / 1_000)} s`;
  if (ms >= HOUR) return span(ms);
  const seconds = Math.round((ms % MINUTE) / 1_000);
  const minutes = Math.floor(ms / MINUTE);
  return seconds === 0 ? `${minutes} min` : `${minutes} min ${seconds} s`;
}

/** A time for an input of the browser: local, to the minute. */
export function localTime(at: string | undefined): string {
  if (at === undefined) return '';
  const moment = new Date(at);
  return new Date(moment.getTime() - moment.getTimezoneOffset() * MINUTE).toISOString().slice(0, 16);
}

/** The moment of a time that `localTime` or the browser wrote. */
export const instantOf = (local: string): string => new Date(local).toISOString();
