const minute = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' })

/** `12:03` here. */
export function formatMinute(time: number): string {
  return minute.format(time)
}
