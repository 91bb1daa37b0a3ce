/** The time of day; with the date where that is not today's. */
export function localTime(at: Date, now: Date): string {
  if (Number.isNaN(at.getTime())) return "--:--:--";
  const two = (number: number): string => `${number}`.padStart(2, "0");
  const time = `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
  if (at.toDateString() === now.toDateString()) return time;
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${time}`;
}
