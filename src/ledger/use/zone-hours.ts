/** One hour of a time zone. At a change of the clock it may be cut: hours never reach over one. */
export interface ZoneHour {
  /** Unix milliseconds. */
  readonly start: number
  /** Unix milliseconds; the start of the next hour. */
  readonly end: number
  /** The local date as a number, such as 20261123. */
  readonly day: number
}

/** The hours of one time zone. */
export interface ZoneHours {
  /** IANA name. */
  readonly zone: string
  /** The hour that a time is in. @param time Unix milliseconds */
  at(time: number): ZoneHour
}

const hourMs = 3_600_000
const hoursKept = 64

/** Makes the hours of a time zone. @throws {RangeError} for an unknown zone */
export function zoneHours(zone: string): ZoneHours {
  const offsetAt = offsets(zone)
  const kept: ZoneHour[] = []

  function hourAt(time: number): ZoneHour {
    const offset = offsetAt(time)
    const into = modulo(time + offset, hourMs)
    const start = transition(offsetAt, time - into, time) ?? time - into
    const next = time - into + hourMs
    const end = transition(offsetAt, time, next) ?? next
    return { start, end, day: dayOf(time + offset) }
  }

  return {
    zone,
    at(time) {
      const found = kept.find(({ start, end }) => time >= start && time < end)
      if (found !== undefined) return found
      const made = hourAt(time)
      if (kept.length >= hoursKept) kept.shift()
      kept.push(made)
      return made
    },
  }
}

/** The first millisecond of another offset after `from`, if the offset at `to` differs. */
function transition(offsetAt: (time: number) => number, from: number, to: number): number | undefined {
  const after = offsetAt(to)
  if (offsetAt(from) === after) return undefined
  let before = from
  let first = to
  while (first - before > 1) {
    const middle = Math.floor((before + first) / 2)
    if (offsetAt(middle) === after) first = middle
    else before = middle
  }
  return first
}

/** The offset of local time from UTC in milliseconds, as a function of the time. */
function offsets(zone: string): (time: number) => number {
  if (zone === 'UTC') return () => 0
  const format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' })
  return (time) => {
    const name = format.formatToParts(time).find(({ type }) => type === 'timeZoneName')?.value ?? ''
    const [, sign, hours = 0, minutes = 0, seconds = 0] = /([+-])(\d\d):(\d\d)(?::(\d\d))?/.exec(name) ?? []
    const ms = (Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds)) * 1_000
    return sign === '-' ? -ms : ms
  }
}

/** @param localTime Unix milliseconds, with the offset added */
function dayOf(localTime: number): number {
  const date = new Date(localTime)
  return date.getUTCFullYear() * 10_000 + (date.getUTCMonth() + 1) * 100 + date.getUTCDate()
}

function modulo(value: number, divisor: number): number {
  return ((value % divisor) + divisor) % divisor
}
