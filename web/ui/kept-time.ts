import { say } from '../texts/say.ts'

const hourMs = 3_600_000

/** A time for which content is kept, such as `7 days` or `12 hours`. */
export function keptTime(ms: number): string {
  return ms % (24 * hourMs) === 0 ? say.content.days(ms / (24 * hourMs)) : say.content.hours(ms / hourMs)
}
