function localMinute(time: number): string {
  const here = new Date(time)
  const [year, month, day, hour, minute] = [
    here.getFullYear(),
    here.getMonth() + 1,
    here.getDate(),
    here.getHours(),
    here.getMinutes(),
  ].map((part) => String(part).padStart(2, '0'))
  return `${year?.padStart(4, '0')}-${month}-${day}T${hour}:${minute}`
}

/** The person's day, such as `2026-11-28`. */
export function localDay(time: number): string {
  return localMinute(time).slice(0, 10)
}

/** Writes a time for an `<input type="datetime-local">`: local, to the minute; empty for 0. */
export function writeLocalMinute(time: number): string {
  return time === 0 ? '' : localMinute(time)
}

/** Reads such a value as Unix milliseconds; 0 if it is invalid. */
export function readLocalMinute(text: string): number {
  return Math.max(0, new Date(text).getTime() || 0)
}
